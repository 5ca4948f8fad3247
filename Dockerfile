# Images of the operator, of the agent (which carries the engine plugin), of the command line, and of the engine simulator.
# docs/images.md says how to build them. `docker build --target operator .` is enough where both images below can be pulled.

# What the images run on: Python 3.11 or newer, with venv, and certificates of authorities.
ARG BASE_IMAGE=python:3.12-slim-bookworm
# What the wheel is made with: Python and a C compiler. Nothing of it reaches an image but the wheel.
ARG BUILD_IMAGE=python:3.12-bookworm

FROM ${BUILD_IMAGE} AS wheel
ARG SOURCE_DATE_EPOCH=1577836800
WORKDIR /src
COPY requirements/install.sh requirements/build.txt ./requirements/
RUN --mount=type=secret,id=pip --mount=type=secret,id=authorities \
    sh requirements/install.sh begin && sh requirements/install.sh locked requirements/build.txt
COPY pyproject.toml README.md LICENSE hatch_build.py ./
COPY operator ./operator
RUN /app/bin/hatchling build --target wheel --directory /wheel

# /app is a virtual environment: for the same Python in the image that it is copied to, hence from the same base.
FROM ${BASE_IMAGE} AS installing
ARG SOURCE_DATE_EPOCH=1577836800
# For the stages that follow, which do not see the argument.
ENV SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH}
WORKDIR /src
COPY requirements/install.sh ./
RUN sh install.sh begin

FROM installing AS operator-files
COPY requirements/operator.txt ./
RUN --mount=type=secret,id=pip --mount=type=secret,id=authorities sh install.sh locked operator.txt
COPY --from=wheel /wheel /wheel
RUN sh install.sh ours

FROM installing AS agent-files
COPY requirements/agent.txt ./
RUN --mount=type=secret,id=pip --mount=type=secret,id=authorities sh install.sh locked agent.txt
COPY --from=wheel /wheel /wheel
RUN sh install.sh ours

FROM installing AS cli-files
COPY requirements/cli.txt ./
RUN --mount=type=secret,id=pip --mount=type=secret,id=authorities sh install.sh locked cli.txt
COPY --from=wheel /wheel /wheel
RUN sh install.sh ours

FROM installing AS simulator-files
COPY requirements/simulator.txt ./
RUN --mount=type=secret,id=pip --mount=type=secret,id=authorities sh install.sh locked simulator.txt
COPY --from=wheel /wheel /wheel
COPY tests/simulator ./simulator
RUN sh install.sh ours simulator

# Nobody becomes somebody else in these images, so nothing may be setuid or setgid. Python's own library is compiled here, since
# a read-only root file system keeps no compiled code; by hash and not by time, so that it is the same in every build.
FROM ${BASE_IMAGE} AS running
RUN find / -xdev -type f -perm /6000 -exec chmod a-s {} + && \
    PYTHONHASHSEED=0 python3 -m compileall -q -j 1 --invalidation-mode unchecked-hash -x '/(site-packages|tests?)/' \
    "$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')"
ENV PATH=/app/bin:/usr/local/bin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
ARG BASE_IMAGE
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.base.name=${BASE_IMAGE} \
      org.opencontainers.image.licenses=Apache-2.0 \
      org.opencontainers.image.version=${VERSION} \
      org.opencontainers.image.revision=${REVISION}
WORKDIR /
USER 65532:65532

FROM running AS simulator
LABEL org.opencontainers.image.title=weightrollout-simulator \
      org.opencontainers.image.description="A simulated vLLM engine, for tests of WeightRollout."
COPY --from=simulator-files /app /app
ENTRYPOINT ["python", "-m", "simulator"]

FROM running AS cli
LABEL org.opencontainers.image.title=weightrollout-cli \
      org.opencontainers.image.description="kubectl weightrollout: looks at rollouts, and prepares workloads for them."
COPY --from=cli-files /app /app
ENTRYPOINT ["kubectl-weightrollout"]

FROM running AS agent
LABEL org.opencontainers.image.title=weightrollout-agent \
      org.opencontainers.image.description="The sidecar beside one vLLM engine, and the plugin that goes into the engine."
COPY --from=agent-files /app /app
ENTRYPOINT ["weightrollout-agent"]

# The last one is what a build without --target makes.
FROM running AS operator
LABEL org.opencontainers.image.title=weightrollout-operator \
      org.opencontainers.image.description="Rolls new model weights into running vLLM pods, in place."
COPY --from=operator-files /app /app
ENTRYPOINT ["weightrollout-operator"]

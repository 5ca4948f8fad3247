"""Which adapter the flags mean, and how others may try its door."""

from typing import assert_never

from weightrollout.agent import exposure_flags
from weightrollout.agent.exposure import Both, Door
from weightrollout.agent.settings import Settings
from weightrollout.api.protocol import EngineProtocol
from weightrollout.engine.dynamo import Dynamo
from weightrollout.engine.protocol import Driven
from weightrollout.engine.rl_http import RlHttp
from weightrollout.engine.vllm_lifecycle import VllmLifecycle


def engine_of(settings: Settings) -> Driven:
    access = settings.engine
    match access.protocol:
        case EngineProtocol.GRPC:
            return VllmLifecycle(settings.engine_grpc, settings.control_service, access.tls)
        case EngineProtocol.HTTP:
            return RlHttp(settings.engine_http, access.tls, access.token)
        case EngineProtocol.DYNAMO:
            return Dynamo(
                *(access.sidecar, settings.engine_grpc, settings.control_service), access.tls
            )
    assert_never(access.protocol)


def door_of(settings: Settings) -> Door:
    access, pod = settings.engine, settings.pod
    if access.protocol is EngineProtocol.HTTP:
        return exposure_flags.http_door(pod, settings.engine_http, access)
    control = Both(
        exposure_flags.door(pod, settings.engine_grpc, settings.control_service, access),
        exposure_flags.development_door(pod, settings.engine_http, access),
    )
    if access.protocol is EngineProtocol.DYNAMO:
        return Both(control, exposure_flags.sidecar_door(pod, access.sidecar))
    return control

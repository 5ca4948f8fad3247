"""`make bench-swap`: pauses of a real vLLM on CPU, path by path, beside vLLM's own update and memcpy.

    modes      what is measured: models, engines, modes. Pure.
    session    one engine under the product's own driver, each call timed
    idle       all modes in turn, and memcpy of the same bytes with the same threads
    load       the same under streaming clients; staging beside them
    gaps       what a client saw, from the times of its tokens. Pure.
    targets    docs/benchmarks/swap.json against the design's figures. Pure.
    rendering  the same as a page's section, `picture` as an SVG. Pure.

A part that fails is written down with its error, and the rest goes on. Figures are written after each part.
"""

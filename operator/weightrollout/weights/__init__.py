"""Turn a checkpoint into an image that an engine can take in, or say why not.

In: a URI and what the engine's ranks reported. Out: a proven image in the staging volume and its
index, or a `WeightsError` that says whose fault it is. Never talks to an engine and never touches
one: whatever fails here fails while the engine serves.

    sources/     where the bytes come from
    digest       which files count, and the name of their content     (standard library only)
    manifest     the tensors of a safetensors folder, headers only    (standard library only)
    drafts       where a speculative draft comes from; pure
    preflight    can this engine be swapped, does this checkpoint fit it; pure
    metadata     are config, tokenizer and templates those of the engine; pure
    golden       golden.json, what the weights answer: read and compared; pure
    beside       what is kept of those next to an image
    layout       which bytes of a file go where; pure
    checksum     crc32 of a whole from crc32s of its parts; pure
    finite       NaN and infinity at the speed of memory
    checkpoint   a source opened for one staging; names the source's failures
    image        the images while they are written; names the volume's failures
    scatter      the one pass over the bytes: hash, check, write
    build        one staging, from folder to proven image
    staging      the store of images: publish, reuse, collect
"""

"""Waiting in an event loop."""

from __future__ import annotations


async def readable(descriptor: int) -> None:
    """Sleeps until a descriptor can be read, in the running event loop of asyncio."""
    import asyncio  # here, because most programs do without it, and it takes longer to import than this package

    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def tell() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(descriptor, tell)
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)

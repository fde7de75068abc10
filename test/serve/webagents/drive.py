"""Runs the clients of the package webagents, unchanged, on behalf of the test: a JSON line in, a JSON line out.

Each line names a client that is made with its settings once, one of its functions, and the arguments. The answer is
{"result": ...} or {"raised": "Name: message"}.
"""

import asyncio
import json
import os
import sys
import warnings
from types import SimpleNamespace

from webagents.agents.skills.base import Skill
from webagents.agents.skills.local.memory.caller_scoped import MemorySkill as NotesSkill
from webagents.agents.skills.local.memory.local_memory_store import MemoryEntry
from webagents.agents.skills.local.memory.portal_memory_store import PortalMemoryStore
from webagents.agents.skills.robutler.kv.skill import MemorySkill
from webagents.server.context.context_vars import create_context, set_context


class Agent:
    """What a skill needs of its agent: an API key, and a place to register its tools."""

    name = "helper"
    skills = {}

    def __init__(self, api_key=None):
        self.api_key = api_key
        self.tools = {}

    def register_tool(self, function, source=None, scope=None):
        self.tools[function.__name__] = function


async def memory(api_key=None, **settings):
    """The skill with the tool `memory`. Its own `initialize` does not await that of its base, and so raises."""
    skill, agent = MemorySkill(**settings), Agent(api_key)
    await Skill.initialize(skill, agent)
    skill._register_memory_tool()
    return SimpleNamespace(
        memory=agent.tools["memory"], get_internal=skill.get_internal, set_internal=skill.set_internal
    )


async def memory_as_released(api_key=None, **settings):
    skill = MemorySkill(**settings)

    async def initialize():
        return await skill.initialize(Agent(api_key))

    return SimpleNamespace(initialize=initialize)


async def scoped(token, **settings):
    """The store that `memory-scoped` serves."""
    return PortalMemoryStore(os.environ["ROBUTLER_API_URL"], token=lambda: token, **settings)


async def notes(**settings):
    """The skill with the five tools. `caller` says who is talking to the agent."""
    skill = NotesSkill(settings)
    await skill.initialize(Agent())
    return skill


makers = {"memory": memory, "memory_as_released": memory_as_released, "scoped": scoped, "notes": notes}
clients = {}


def as_caller(caller):
    context = create_context(messages=[])
    context.auth = SimpleNamespace(**caller)
    set_context(context)


async def answer(asked):
    settings = json.dumps([asked["client"], asked.get("settings", {})])
    if settings not in clients:
        clients[settings] = await makers[asked["client"]](**asked.get("settings", {}))
    if "caller" in asked:
        as_caller(asked["caller"])
    return await getattr(clients[settings], asked["call"])(**asked.get("args", {}))


def plain(value):
    return value.to_dict() if isinstance(value, MemoryEntry) else vars(value)


async def main():
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        try:
            reply = {"result": await answer(json.loads(line))}
        except Exception as error:
            reply = {"raised": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply, default=plain), flush=True)


asyncio.run(main())

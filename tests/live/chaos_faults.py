"""The faults of the chaos stage. Each is a generator: it begins the fault, yields the seconds for which it lasts, and
ends it. `@fault(COUNT)` says how often it occurs. Faults of Slurm happen to both clusters.
"""

import signal

from chaos_world import LOCK_S

FAULTS = {}  # name -> (count, generator, whether it is a fault of Slurm)


def fault(count, of_slurm=False):
    def add(function):
        FAULTS[function.__name__] = (count, function, of_slurm)
        return function
    return add


def schedule(rng, most=None):
    """Returns names of faults in a random order; the first `most` of it."""
    names = [name for name, (count, _, _) in FAULTS.items() for _ in range(count)]
    rng.shuffle(names)
    if most is not None:
        # At least one of each kind comes first.
        kinds = list(FAULTS)
        rng.shuffle(kinds)
        for name in kinds:
            names.remove(name)
        names = (kinds + names)[:most]
    return names


@fault(3)
def leader_killed(world, rng, note):
    agent = world.leader()
    agent.signal(signal.SIGKILL)
    yield 4
    agent.start()


@fault(2)
def both_agents_killed(world, rng, note):
    for agent in world.agents:
        agent.signal(signal.SIGKILL)
    yield 8
    for agent in world.agents:
        agent.start()


@fault(3)
def leader_stopped_twice_its_lock_time(world, rng, note):
    agent = world.leader()
    agent.signal(signal.SIGSTOP)
    yield 2 * LOCK_S + 1
    note["stopped_pid"] = agent.pid
    agent.signal(signal.SIGCONT)


@fault(2)
def leader_stopped_briefly(world, rng, note):
    agent = world.leader()
    agent.signal(signal.SIGSTOP)
    yield 3
    agent.signal(signal.SIGCONT)


@fault(4)
def server_killed(world, rng, note):
    world.server.signal(signal.SIGKILL)
    yield 4
    world.server.start()


@fault(3)
def server_stopped(world, rng, note):
    world.server.signal(signal.SIGSTOP)
    yield 6
    world.server.signal(signal.SIGCONT)


@fault(4, of_slurm=True)
def slurmctld_killed(world, rng, note):
    for arm in world.arms:
        arm.signal("slurmctld", signal.SIGKILL)
    yield 2
    for arm in world.arms:
        arm.restart("slurmctld")


@fault(3, of_slurm=True)
def slurmctld_stopped(world, rng, note):
    for arm in world.arms:
        arm.signal("slurmctld", signal.SIGSTOP)
    yield 8
    for arm in world.arms:
        arm.signal("slurmctld", signal.SIGCONT)


def some_node(world, rng, note):
    note["node"] = f"n{rng.randrange(world.nodes)}"
    return note["node"]


@fault(3, of_slurm=True)
def slurmd_killed(world, rng, note):
    node = some_node(world, rng, note)
    for arm in world.arms:
        arm.signal(node, signal.SIGKILL)
    yield 6
    for arm in world.arms:
        arm.restart(node)


@fault(3, of_slurm=True)
def slurmd_stopped(world, rng, note):
    node = some_node(world, rng, note)
    for arm in world.arms:
        arm.signal(node, signal.SIGSTOP)
    yield 8
    for arm in world.arms:
        arm.signal(node, signal.SIGCONT)


@fault(3, of_slurm=True)
def node_drained(world, rng, note):
    node = some_node(world, rng, note)
    for arm in world.arms:
        arm.set_node(node, "DRAIN")
    yield 12
    for arm in world.arms:
        arm.set_node(node, "RESUME")


@fault(3, of_slurm=True)
def node_down(world, rng, note):
    node = some_node(world, rng, note)
    for arm in world.arms:
        arm.set_node(node, "DOWN")
    yield 12
    for arm in world.arms:
        arm.set_node(node, "RESUME")


def promoted(world, policy, seconds):
    """Another model decides for a while: it is loaded as a candidate and promoted, then rolled back."""
    done = world.models("load", "--policy", policy) and world.models("promote")
    yield seconds
    if done:
        world.models("roll-back")


@fault(2)
def policy_returns_nan(world, rng, note):
    yield from promoted(world, "faulty-nan", 8)


@fault(2)
def policy_names_an_illegal_node(world, rng, note):
    yield from promoted(world, "faulty-node", 8)


@fault(2)
def policy_sleeps(world, rng, note):
    yield from promoted(world, "faulty-sleep", 8)


@fault(2)
def policy_idles(world, rng, note):
    yield from promoted(world, "faulty-idle", 10)


@fault(3)
def model_swapped(world, rng, note):
    yield from promoted(world, "checkpoint:checkpoints/pilot-2", 8)


def truncate(world):
    manifest = world.model / "manifest.json"
    content = manifest.read_bytes()
    manifest.write_bytes(content[: len(content) // 2])
    return lambda: manifest.write_bytes(content)


@fault(2)
def model_truncated(world, rng, note):
    restore = truncate(world)
    yield 8
    restore()


@fault(1)
def server_restarted_with_a_truncated_model(world, rng, note):
    restore = truncate(world)
    world.server.signal(signal.SIGKILL)
    world.server.start()
    yield 8
    restore()


@fault(4)
def network_cut(world, rng, note):
    world.cut(True)
    yield 8
    world.cut(False)

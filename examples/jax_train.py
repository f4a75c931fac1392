"""Trains a small network on two spirals, with stock JAX's profiler around the training.

    python examples/jax_train.py LOGDIR

Loader threads make batches from compressed files, the main thread trains and evaluates, and one more
thread writes checkpoints. Nothing here starts this package's listener: it is a JAX plug-in, so a plain
``jax.profiler.trace`` finds it.
"""

import io
import itertools
import os
import queue
import sys
import tempfile
import threading

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np

import xprof_roctx
from xprof_roctx import StepTraceAnnotation, TraceAnnotation, annotate_function

SHARDS = 8
SHARD_POINTS = 40_000
BATCH = 2048
STEPS = 60
STEPS_PER_EVALUATION = 15
LOADERS = 2
WIDTH = 128


def spirals(generator, count):
    """Points of two spirals, and which spiral each is of."""
    label = generator.integers(0, 2, count)
    turn = np.sqrt(generator.uniform(size=count)) * 2.5 * np.pi
    angle = turn + np.pi * label
    points = np.stack([turn * np.cos(angle), turn * np.sin(angle)], axis=1) / 10
    return points.astype(np.float32), label.astype(np.float32)


def write_shards(folder):
    """The training data, in compressed files."""
    paths = []
    for number in range(SHARDS):
        points, label = spirals(np.random.default_rng(number), SHARD_POINTS)
        paths.append(os.path.join(folder, f"shard-{number}.npz"))
        np.savez_compressed(paths[-1], points=points, label=label)
    return paths


def load_batches(number, shards, batches, stop):
    """A loader thread: makes batches until it is told to stop."""
    xprof_roctx.name_current_thread(f"loader {number}")
    generator = np.random.default_rng(100 + number)
    for shard in itertools.cycle(shards[number::LOADERS]):
        with TraceAnnotation("load batch", shard=os.path.basename(shard)):
            with TraceAnnotation("decompress"), np.load(shard) as data:
                points, label = data["points"], data["label"]
            with TraceAnnotation("shuffle"):
                order = generator.permutation(len(points))[:BATCH]
                points, label = points[order], label[order]
            with TraceAnnotation("augment"):
                noise = generator.normal(scale=0.01, size=points.shape)
                batch = points + noise.astype(np.float32), label
        while not stop.is_set():
            try:
                batches.put(batch, timeout=0.05)
                break
            except queue.Full:
                continue
        if stop.is_set():
            return


def initial_parameters(key):
    sizes = [2, WIDTH, WIDTH, WIDTH, 1]
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jax.random.normal(key, (inputs, outputs)) * jnp.sqrt(2 / inputs), jnp.zeros(outputs))
        for key, inputs, outputs in zip(keys, sizes, sizes[1:])
    ]


def logits(parameters, points):
    *hidden, (weights, bias) = parameters
    for hidden_weights, hidden_bias in hidden:
        points = jax.nn.relu(points @ hidden_weights + hidden_bias)
    return (points @ weights + bias)[:, 0]


def loss(parameters, points, label):
    predicted = logits(parameters, points)
    return jnp.mean(jax.nn.softplus(predicted) - label * predicted)


loss_and_gradients = jax.jit(jax.value_and_grad(loss))


@jax.jit
def adam_update(parameters, state, gradients):
    step, mean, square = state
    step = step + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradients)
    square = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, square, gradients)

    def update(parameter, m, s):
        return parameter - 0.01 * (m / (1 - 0.9**step)) / (jnp.sqrt(s / (1 - 0.99**step)) + 1e-8)

    return jax.tree.map(update, parameters, mean, square), (step, mean, square)


@jax.jit
def accuracy(parameters, points, label):
    return jnp.mean((logits(parameters, points) > 0) == (label > 0.5))


@annotate_function
def evaluate(parameters, batches):
    """Accuracy on batches that no step has seen."""
    results = []
    for number, (points, label) in enumerate(batches):
        with TraceAnnotation("evaluate batch", batch=number):
            results.append(float(accuracy(parameters, points, label)))
    return sum(results) / len(results)


def write_checkpoints(requests, folder):
    """The checkpoint thread: writes what it is given until it is given None."""
    xprof_roctx.name_current_thread("checkpoints")
    while (request := requests.get()) is not None:
        step, parameters, in_flight = request
        with TraceAnnotation("write checkpoint", step=step):
            with TraceAnnotation("serialize"):
                data = io.BytesIO()
                np.savez(data, *[np.asarray(leaf) for leaf in jax.tree.leaves(parameters)])
            with TraceAnnotation("write file", bytes=data.tell()):
                with open(os.path.join(folder, f"step-{step}.npz"), "wb") as file:
                    file.write(data.getbuffer())
                    file.flush()
                    os.fsync(file.fileno())
        xprof_roctx.range_stop(in_flight)


def train(parameters, state, batches, evaluation, checkpoints):
    for step in range(STEPS):
        with StepTraceAnnotation("train", step_num=step):
            with TraceAnnotation("wait for batch"):
                points, label = batches.get()
            with TraceAnnotation("forward and backward"):
                value, gradients = loss_and_gradients(parameters, points, label)
                jax.block_until_ready(gradients)
            with TraceAnnotation("update"):
                parameters, state = adam_update(parameters, state, gradients)
                jax.block_until_ready(parameters)
        if (step + 1) % STEPS_PER_EVALUATION == 0:
            result = evaluate(parameters, evaluation)
            xprof_roctx.mark(f"accuracy {result:.3f}")
            print(f"step {step + 1:3}: loss {value:.3f}, accuracy {result:.3f}")
            # Opened here and closed by the checkpoint thread: a range of no one thread.
            in_flight = xprof_roctx.range_start(f"checkpoint {step + 1} in flight")
            checkpoints.put((step + 1, parameters, in_flight))
    return parameters


def main():
    logdir = sys.argv[1]
    parameters = initial_parameters(jax.random.key(0))
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    state = 0.0, zeros, zeros
    generator = np.random.default_rng(99)
    evaluation = [spirals(generator, BATCH) for _ in range(4)]

    # Compile before the profile, so that it shows training and not compilation.
    _, gradients = loss_and_gradients(parameters, *evaluation[0])
    adam_update(parameters, state, gradients)
    accuracy(parameters, *evaluation[0])

    options = jax.profiler.ProfileOptions()
    options.session_id = "jax_train"  # the run's name in the log directory
    options.python_tracer_level = 0  # no event for every Python call: the annotations are enough
    batches, checkpoints, stop = queue.Queue(4), queue.Queue(), threading.Event()
    with tempfile.TemporaryDirectory() as folder:
        shards = write_shards(folder)
        threads = [
            threading.Thread(target=load_batches, args=(number, shards, batches, stop))
            for number in range(LOADERS)
        ]
        threads.append(threading.Thread(target=write_checkpoints, args=(checkpoints, folder)))
        with jax.profiler.trace(logdir, profiler_options=options):
            for thread in threads:
                thread.start()
            train(parameters, state, batches, evaluation, checkpoints)
            stop.set()
            checkpoints.put(None)
            for thread in threads:
                thread.join()


if __name__ == "__main__":
    main()

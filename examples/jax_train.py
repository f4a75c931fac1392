"""Trains a small network on two spirals, with stock JAX's profiler around the training.

    python examples/jax_train.py LOGDIR

Loader threads make batches, the main thread trains and evaluates, and one more thread writes
checkpoints. Nothing here starts this package's listener: it is a JAX plug-in, so a plain
``jax.profiler.trace`` finds it.
"""

import io
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

BATCH = 2048
STEPS = 60
STEPS_PER_EVALUATION = 20
LOADERS = 2
WIDTH = 256


def spirals(generator, count):
    """Points of two spirals, and which spiral each is of."""
    label = generator.integers(0, 2, count)
    turn = np.sqrt(generator.uniform(size=count)) * 3 * np.pi
    angle = turn + np.pi * label
    points = np.stack([turn * np.cos(angle), turn * np.sin(angle)], axis=1) / 10
    return points.astype(np.float32), label.astype(np.float32)


def load_batches(number, batches, stop):
    """A loader thread: makes batches until it is told to stop."""
    xprof_roctx.name_current_thread(f"loader {number}")
    generator = np.random.default_rng(number)
    while not stop.is_set():
        with TraceAnnotation("load batch", loader=number, size=BATCH):
            with TraceAnnotation("read"):
                points, label = spirals(generator, BATCH)
            with TraceAnnotation("augment"):
                points = points + generator.normal(scale=0.01, size=points.shape).astype(np.float32)
            with TraceAnnotation("shuffle"):
                order = generator.permutation(BATCH)
                batch = points[order], label[order]
        while not stop.is_set():
            try:
                batches.put(batch, timeout=0.05)
                break
            except queue.Full:
                continue


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
def momentum_update(parameters, velocity, gradients):
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradients)
    return jax.tree.map(lambda p, v: p - 0.05 * v, parameters, velocity), velocity


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
    xprof_roctx.name_current_thread("checkpoint writer")
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


def train(parameters, batches, evaluation, checkpoints):
    velocity = jax.tree.map(jnp.zeros_like, parameters)
    for step in range(STEPS):
        with StepTraceAnnotation("train", step_num=step):
            with TraceAnnotation("wait for batch"):
                points, label = batches.get()
            with TraceAnnotation("forward and backward"):
                value, gradients = loss_and_gradients(parameters, points, label)
                jax.block_until_ready(gradients)
            with TraceAnnotation("update"):
                parameters, velocity = momentum_update(parameters, velocity, gradients)
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
    generator = np.random.default_rng(99)
    evaluation = [spirals(generator, BATCH) for _ in range(4)]

    # Compile before the profile, so that it shows training and not compilation.
    _, gradients = loss_and_gradients(parameters, *evaluation[0])
    momentum_update(parameters, gradients, gradients)
    accuracy(parameters, *evaluation[0])

    batches, checkpoints, stop = queue.Queue(4), queue.Queue(), threading.Event()
    options = jax.profiler.ProfileOptions()
    options.session_id = "jax_train"  # the run's name in the log directory
    options.python_tracer_level = 0  # no event for every Python call: the annotations are enough
    with tempfile.TemporaryDirectory() as folder:
        threads = [
            threading.Thread(target=load_batches, args=(number, batches, stop))
            for number in range(LOADERS)
        ]
        threads.append(threading.Thread(target=write_checkpoints, args=(checkpoints, folder)))
        with jax.profiler.trace(logdir, profiler_options=options):
            for thread in threads:
                thread.start()
            train(parameters, batches, evaluation, checkpoints)
            stop.set()
            checkpoints.put(None)
            for thread in threads:
                thread.join()


if __name__ == "__main__":
    main()

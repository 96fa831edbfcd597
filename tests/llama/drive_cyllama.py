"""Decodes N tokens with cyllama's libllama: plain log lines, from llama.cpp's own C code, on stderr.

Only the low-level module is used: cyllama's friendly one switches the log off.
"""

from cyllama.llama import llama_cpp as llama

from driving import PROMPT, Output, context_for, options, run, signals_as_in_c


def load(given):
    model = llama.LlamaModel(given.model, llama.LlamaModelParams())
    params = llama.LlamaContextParams()
    params.n_ctx = context_for(given.tokens)
    params.n_threads = params.n_threads_batch = given.threads
    params.no_perf = False
    return model, llama.LlamaContext(model, params)


def decode(model, context, tokens, output):
    greedy = llama.LlamaSampler()
    greedy.add_greedy()
    # What is to be decoded next, and at which position it stands.
    batch, position = model.get_vocab().tokenize(PROMPT, True, False), 0
    for _ in range(tokens):
        context.decode(llama.llama_batch_get_one(batch, position))
        position += len(batch)
        batch = [greedy.sample(context, -1)]
        output.take(str(batch[0]))


def main():
    given = options(__doc__)
    signals_as_in_c()
    output = Output(given)
    model, context = load(given)
    decode(model, context, given.tokens, output)
    context.print_perf_data()
    context.close()
    model.close()
    output.end()


if __name__ == "__main__":
    run(main)

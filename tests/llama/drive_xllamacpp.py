"""Decodes N tokens with xllamacpp's llama.cpp server: log lines with clock and level, from a thread of its own."""

import xllamacpp

from driving import PROMPT, Output, context_for, options, run, signals_as_in_c

# As "-lv 4": all memory lines, none per token.
VERBOSITY = 4


def load(given):
    params = xllamacpp.CommonParams()
    params.model.path = given.model
    params.verbosity = VERBOSITY
    params.n_ctx = context_for(given.tokens)
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = given.threads
    return xllamacpp.Server(params)


def decode(server, tokens, output):
    def chunk(part):
        text = part["choices"][0]["text"]
        # The last chunk has no text but the reason of the end.
        if text:
            output.take(text)

    request = {"prompt": PROMPT, "n_predict": tokens, "temperature": 0, "seed": 1, "ignore_eos": True, "stream": True}
    server.handle_completions(request, chunk)


def main():
    given = options(__doc__)
    signals_as_in_c()
    output = Output(given)
    server = load(given)
    decode(server, given.tokens, output)
    # Its destructor ends the server's threads and prints the memory table.
    del server
    output.end()


if __name__ == "__main__":
    run(main)

"""Scores pairs of sentences with sacrebleu, for tests/bleu_reference_test.cpp.

usage: bleu_reference.py PAIRS

PAIRS has a translation and its reference on each line, with a tab between them. Prints, for each
pair, the matches and totals of the four orders, the two lengths and the score, and on the last line
the same for the corpus.
"""

import sys

try:
    from sacrebleu.metrics.bleu import BLEU
except ImportError:
    sys.exit(77)


def line_of(found):
    numbers = [*found.counts, *found.totals, found.sys_len, found.ref_len]
    return " ".join([*map(str, numbers), repr(found.score)])


with open(sys.argv[1], encoding="utf-8", newline="\n") as file:
    pairs = [line.rstrip("\n").split("\t") for line in file]
bleu = BLEU()
for translation, reference in pairs:
    print(line_of(bleu.corpus_score([translation], [[reference]])))
print(line_of(bleu.corpus_score([p[0] for p in pairs], [[p[1] for p in pairs]])))

"""Cuts a list of parts into runs whose longest is as short as possible."""
import functools


def cuts_of(seconds, stages):
    """The first part of every run but the first."""
    if not 1 <= stages <= len(seconds):
        raise ValueError(f"{len(seconds)} parts cannot be cut into {stages} stages")

    @functools.cache
    def best(begin, left):
        """(longest run, cuts) of the parts from `begin` on, in `left` runs."""
        if left == 1:
            return sum(seconds[begin:]), ()
        choices = []
        for end in range(begin + 1, len(seconds) - left + 2):
            longest, cuts = best(end, left - 1)
            choices.append((max(sum(seconds[begin:end]), longest), (end, *cuts)))
        return min(choices)

    return list(best(0, stages)[1])

"""bench/hosts.py, without making any host."""
import os
import stat
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from hosts import OURS, Hosts, Tools, bytes_in, sizes_of

STATISTICS = """[{"kind":"tbf","handle":"8001:","root":true,"options":{"rate":12500000},
"bytes":155691434,"packets":104512,"drops":0}]"""


class Parts(unittest.TestCase):
    def test_a_burst_holds_a_large_segment_and_two_milliseconds(self):
        self.assertEqual(sizes_of(10), (80_000, 400_000))
        self.assertEqual(sizes_of(1000), (250_000, 3_750_000))

    def test_the_bytes_of_tbf_are_read(self):
        self.assertEqual(bytes_in(STATISTICS), 155691434)
        with self.assertRaisesRegex(ValueError, "no tbf"):
            bytes_in('[{"kind":"noqueue","bytes":0}]')

    def test_only_namespaces_of_benchmarks_are_removed(self):
        names = ["pd-bench-0", "pd-bench-12", "pd-bench-switch", "pd-bench-mine", "pd-bench-", "h0"]
        self.assertEqual([name for name in names if OURS.fullmatch(name)], names[:3])

    def test_a_command_runs_in_its_host_and_keeps_its_words(self):
        hosts = Hosts(2)
        command = hosts.on(1, ["echo", "two words", "$HOME"])
        self.assertIn("--net=/run/netns/pd-bench-1", command)
        self.assertEqual(command[-4:], ["pd-bench-1", "echo", "two words", "$HOME"])

    def test_one_host_is_no_cluster(self):
        with self.assertRaisesRegex(SystemExit, "wanted 2 to"):
            Hosts(1)


class Folder(unittest.TestCase):
    """A folder of PD_IPROUTE."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def put(self, path, text=""):
        file = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(file, stat.S_IRWXU)
        return file

    def test_tools_and_libraries_are_found_in_it(self):
        ip, tc = self.put("ip"), self.put("usr/sbin/tc")
        self.put("lib/x86_64-linux-gnu/libelf.so.1")
        tools = Tools(self.folder.name)
        self.assertEqual(tools.paths, {"ip": ip, "tc": tc})
        self.assertEqual(tools.environment["LD_LIBRARY_PATH"],
                         os.path.join(self.folder.name, "lib/x86_64-linux-gnu"))

    def test_only_ip_and_tc_see_the_libraries(self):
        self.put("ip", "#!/bin/sh\nprintf '%s' \"$LD_LIBRARY_PATH\"\n")
        self.put("tc")
        self.put("libmnl.so.0")
        before = os.environ.get("LD_LIBRARY_PATH")
        self.assertEqual(Tools(self.folder.name).ip(), self.folder.name)
        self.assertEqual(os.environ.get("LD_LIBRARY_PATH"), before)

    def test_a_folder_without_them_is_refused(self):
        self.put("ip")
        with self.assertRaisesRegex(SystemExit, "no program 'tc' in .*PD_IPROUTE"):
            Tools(self.folder.name)

    def test_a_command_that_fails_ends_the_benchmark_with_its_message(self):
        self.put("ip", "#!/bin/sh\necho 'no such device' >&2\nexit 1\n")
        self.put("tc")
        with self.assertRaisesRegex(SystemExit, "no such device"):
            Tools(self.folder.name).ip("link", "set")


unittest.main()

"""Opens pages in a real browser: no error on the console, a first picture soon, zoom, hover, keys.

    page_test.py PROGRAM FOLDER

FOLDER gets the pages, and pictures of them to look at. Needs Chromium, its driver and Selenium
(Debian: chromium, chromium-driver, python3-selenium)."""
import json
import os
import shutil
import subprocess
import sys
import threading
import unittest
import urllib.error
import urllib.request

try:
    from selenium import webdriver
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    print("page_test is skipped: Selenium is not there")
    sys.exit(0)
if shutil.which("chromedriver") is None:
    print("page_test is skipped: Chromium's driver is not there")
    sys.exit(0)

PROGRAM, FOLDER = sys.argv[1], sys.argv[2]
MOST_MILLISECONDS = 1000  # until the first picture
SLOWER = float(os.environ.get("PD_PAGE_SLOWER", "1"))  # of a machine that does other things meanwhile
NETWORK = ["--model", "mlp", "--inputs", "20", "--hidden", "64", "--layers", "12", "--batch", "16"]


def call(*words):
    subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True)


def path(name):
    return os.path.join(FOLDER, name)


def cluster_of(name, hosts, per_host):
    with open(path(name), "w", encoding="utf-8") as file:
        file.write('format = "pipedream-cluster"\nversion = 1\nname = "slow links"\n')
        for level, count, bandwidth in (("host", per_host, "10GB/s"), ("rack", hosts, "1Gbit/s")):
            file.write(f'[[level]]\nname = "{level}"\ncount = {count}\nbandwidth = "{bandwidth}"\n'
                       'latency = "20us"\nshared = true\n')
        file.write('[device]\nmemory = "16GiB"\n')
    return path(name)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(FOLDER, exist_ok=True)
        options = webdriver.ChromeOptions()
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,1600"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.browser = webdriver.Chrome(options=options)
        call("profile", *NETWORK, "--seconds", "0.3", "-o", path("profile.json"))

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()

    def open(self, name):
        """Opens a page, and expects no error and a picture soon."""
        self.browser.get("file://" + os.path.abspath(path(name)))
        took = self.browser.execute_script(
            "const paint = performance.getEntriesByName('first-contentful-paint')[0];"
            "return paint ? paint.startTime : performance.now();")
        self.assertLess(took, MOST_MILLISECONDS * SLOWER, name)
        self.no_errors()
        self.browser.save_screenshot(path(name + ".png"))

    def no_errors(self):
        self.assertEqual([entry["message"] for entry in self.browser.get_log("browser")], [])

    def all(self, css):
        return self.browser.find_elements(By.CSS_SELECTOR, css)

    def text(self):
        return self.browser.find_element(By.TAG_NAME, "body").text

    def place(self):
        return self.all(".timeline .place")[0].text

    def coloured_pixels(self, canvas):
        """How many pixels of a canvas have a colour of an op."""
        return self.browser.execute_script("""
            const c = arguments[0];
            const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
            let found = 0;
            for (let i = 0; i < data.length; i += 4) {
              const rgb = [data[i], data[i + 1], data[i + 2]];
              if (data[i + 3] > 0 && Math.max(...rgb) - Math.min(...rgb) > 40) ++found;
            }
            return found;""", canvas)

    def test_a_simulation_of_sixteen_workers_and_two_thousand_minibatches(self):
        call("simulate", "--profile", path("profile.json"), "--cluster", cluster_of("16.toml", 4, 4),
             "--system", "pipedream", "--straight", "--minibatches", "2000", "--html", path("simulation.html"))
        self.open("simulation.html")
        canvas = self.all(".timeline canvas")[0]
        self.assertGreater(self.coloured_pixels(canvas), 1000)
        whole = self.place()
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
        canvas.click()
        slowest = self.browser.execute_async_script("""
            const done = arguments[arguments.length - 1];
            const canvas = arguments[0];
            const box = canvas.getBoundingClientRect();
            let [last, slowest, left] = [performance.now(), 0, 40];
            const step = () => {
              const now = performance.now();
              slowest = Math.max(slowest, now - last);
              last = now;
              if (left-- === 0) return done(slowest);
              canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: -120, ctrlKey: true, bubbles: true,
                cancelable: true, clientX: box.left + box.width / 2, clientY: box.top + 50}));
              requestAnimationFrame(step);
            };
            requestAnimationFrame(step);""", canvas)
        self.assertLess(slowest, 250 * SLOWER, "milliseconds of the slowest picture while zooming")
        self.assertNotEqual(self.place(), whole)
        self.assertIn(" to ", self.place())
        ActionChains(self.browser).move_to_element_with_offset(canvas, 100, 0).perform()
        tip = self.all(".tip")[0].text
        self.assertIn("worker", tip)
        self.browser.save_screenshot(path("simulation-zoomed.png"))
        canvas.send_keys(Keys.HOME)
        self.assertEqual(self.place(), whole)
        canvas.send_keys("+")
        self.assertNotEqual(self.place(), whole)
        self.assertIn("Links, as simulated", self.text())
        self.assertEqual(len(self.all(".hosts .worker")), 16)
        self.no_errors()

    def test_a_simulation_of_hundreds_of_thousands_of_ops(self):
        call("simulate", "--profile", path("profile.json"), "--cluster", cluster_of("16.toml", 4, 4),
             "--system", "pipedream", "--straight", "--minibatches", "8000", "--html", path("long.html"))
        self.browser.get("file://" + os.path.abspath(path("long.html")))
        self.assertGreater(self.coloured_pixels(self.all(".timeline canvas")[0]), 1000)
        self.no_errors()

    def test_a_real_run(self):
        run = path("run")
        call("train", *NETWORK, "--workers", "2", "--system", "pipedream", "--straight", "--epochs", "3",
             "--profile-seconds", "0.3", "--link", "100Mbit/s", "--out", run, "--overwrite")
        call("report", run, "-o", path("run.html"))
        self.open("run.html")
        text = self.text()
        self.assertIn("100 Mbit/s", text, "the simulation has the links of the run")
        for part in ("was trained with pipedream 1-1 on 2 workers", "Held-out accuracy over samples",
                     "Where the workers' time went", "Memory over time", "With other systems", "dp-bsp"):
            self.assertIn(part, text)
        self.assertEqual(len(self.all(".timeline canvas")), 2, "measured and simulated")
        with open(os.path.join(run, "summary.json"), encoding="utf-8") as file:
            accuracy = json.load(file)["accuracy"]
        self.assertIn(f"{100 * accuracy:.1f} %", text)
        chart = self.all('canvas[aria-label="Training loss over samples"]')[0]
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
        ActionChains(self.browser).move_to_element(chart).perform()
        self.assertIn("samples", self.all(".tip")[0].text)
        before = self.browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        self.all(".theme")[0].click()
        after = self.browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        self.assertNotEqual(before, after)
        self.browser.save_screenshot(path("run-dark.png"))
        self.no_errors()

    def serve(self, *words):
        """Starts a training that shows itself. Returns it and its address."""
        training = subprocess.Popen([PROGRAM, "train", *NETWORK, "--profile-seconds", "0.3", "--serve", "0", *words],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(training.stderr.close)
        self.addCleanup(training.wait)
        self.addCleanup(training.kill)
        for line in training.stderr:
            if "built without cpp-httplib" in line:
                self.skipTest(line)
            if "the training is shown at " in line:
                return training, line.split("shown at ")[1].strip()
        raise AssertionError("the training named no address")

    def wait_for(self, text):
        WebDriverWait(self.browser, 60 * SLOWER).until(lambda _: text in self.text(), text)

    def test_a_training_that_runs(self):
        training, url = self.serve("--workers", "2", "--system", "pipedream", "--straight", "--epochs", "30")
        self.browser.get(url)
        self.wait_for("is being trained with pipedream 1-1 on 2 workers")
        self.wait_for(" of 7680")
        self.wait_for("Held-out accuracy over samples")
        self.browser.save_screenshot(path("live.png"))
        threading.Thread(target=training.stderr.read).start()
        self.wait_for("The training has ended.")
        self.wait_for("was trained with pipedream 1-1 on 2 workers")
        self.assertEqual(training.wait(60), 0)
        self.no_errors()

    def test_a_page_does_not_go_on_with_another_training(self):
        _, url = self.serve("--workers", "1", "--epochs", "1000")
        self.browser.get(url)
        self.wait_for("is being trained")
        self.browser.execute_script("""
            window.sources = [];
            const Source = window.EventSource;
            window.EventSource = class extends Source {
              constructor(url) { super(url); window.sources.push(this); }
            };
            follow("no training", {result: {}}, document.body,
                   {element: document.createElement("div"), show() {}});""")
        self.wait_for("Another training")
        closed = self.browser.execute_script("return window.sources[0].readyState === EventSource.CLOSED")
        self.assertTrue(closed)
        self.no_errors()
        self.browser.get("about:blank")  # before the training ends, of which the page would complain

    def answer(self, url, **request):
        try:
            with urllib.request.urlopen(urllib.request.Request(url, **request), timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    def test_a_training_answers_its_own_paths_alone(self):
        training, url = self.serve("--workers", "1", "--epochs", "1000")
        self.assertTrue(url.startswith("http://127.0.0.1:"))
        self.assertEqual(self.answer(url), 200)
        self.assertEqual(self.answer(url + "etc/passwd"), 404)
        self.assertEqual(self.answer(url + "../etc/passwd"), 404)
        self.assertEqual(self.answer(url, data=b"x"), 404)
        self.assertEqual(self.answer(url, headers={"Host": "other.example"}), 403)
        port = url.split(":")[2].strip("/")
        second = subprocess.run([PROGRAM, "train", *NETWORK, "--serve", port, "--minibatches", "1"],
                                capture_output=True, text=True, check=False)
        self.assertEqual(second.returncode, 78, second.stderr)
        self.assertIn("--serve: nothing can listen at " + url, second.stderr)
        training.terminate()
        threading.Thread(target=training.stderr.read).start()
        training.wait(60)

    def test_a_comparison(self):
        call("compare", "--profile", path("profile.json"), "--cluster", cluster_of("4.toml", 2, 2),
             "--html", path("comparison.html"))
        self.open("comparison.html")
        self.assertIn("Side by side", self.text())
        tabs = self.all('[role="tab"]')
        self.assertGreater(len(tabs), 5)
        tabs[0].send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(tabs[1].get_attribute("aria-selected"), "true")
        for tab in tabs:
            tab.click()
            self.assertTrue([each for each in self.all("article") if each.is_displayed()])
        self.no_errors()

    def test_a_run_without_results(self):
        run = path("part")
        os.makedirs(run, exist_ok=True)
        call("plan", "--profile", path("profile.json"), "--workers", "2", "-o", os.path.join(run, "plan.json"))
        with open(os.path.join(run, "metrics.jsonl"), "w", encoding="utf-8") as file:
            file.write('{"minibatch":0,"samples":16,"loss":2.0,"seconds":1}\n{"minibatch":1,"sam')
        call("report", run, "-o", path("part.html"))
        self.open("part.html")
        self.assertIn("The plan", self.text())


unittest.main(argv=sys.argv[:1])

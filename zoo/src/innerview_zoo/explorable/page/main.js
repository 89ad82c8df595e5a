// Opens the page: reads it, wires its chapters to the stage and shows them.

/** @param {() => void} repaint */
function wireTheme(repaint) {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const set = (/** @type {boolean} */ isDark) => {
    root.dataset.theme = isDark ? "dark" : "light";
    repaint();
  };
  set(dark.matches);
  dark.addEventListener("change", () => set(dark.matches));
  $("theme").addEventListener("click", () => set(root.dataset.theme !== "dark"));
}

/**
 * @param {Stage} stage
 * @param {Samples} samples
 */
function wireSettings(stage, samples) {
  for (const radio of radios("order"))
    radio.addEventListener("change", () => {
      const measure = radio.value;
      stage.sortRows(measure === "activation" || measure === "change" ? measure : "asis");
    });
  $("watch").addEventListener("click", () => {
    stage.choose(range(stage.size), "");
    stage.go(0);
    stage.play(true);
  });
  $("fromGrid").addEventListener("change", () => {
    stage.fromGrid = $("fromGrid").checked;
    stage.again();
    samples.again();
  });
  $("showPoses").addEventListener("change", () => {
    stage.showPoses = $("showPoses").checked;
    stage.draw();
  });
}

async function openPage() {
  /** @type {Stage | null} */
  let stage = null;
  wireTheme(() => stage?.repaint());
  const page = await readPage();
  fillFacts(page.about);
  $("main").hidden = false;
  $("waiting").remove();
  const opened = new Stage(page, new Simulator(page));
  stage = opened;
  const { simulator, about } = opened;
  opened.painters.push(() => showLegend($("legend"), about.actions, simulator.canPlayOn));
  wireSettings(opened, new Samples(opened));
  const busiest = new Busiest(opened);
  new ByHand(opened);
  if (simulator.canPlayOn) {
    new Search(opened);
    wireLuck(opened);
  }
  opened.readAddress();
  const fidelity = showFidelity(opened, page.arrays);
  opened.repaint();
  window.explorable = { fidelity, rollOut: (edits, options) => simulator.rollOut(edits, options), stage: opened };
  document.documentElement.dataset.ready = "yes";
  await busiest.compute();
}

openPage().catch((error) => {
  const waiting = document.getElementById("waiting") ?? make("p", { id: "waiting" });
  document.body.append(waiting);
  const reason = error instanceof Error ? error.message : String(error);
  waiting.textContent = `This page could not be opened: ${reason}. It needs a browser from 2023 or later.`;
  throw error;
});

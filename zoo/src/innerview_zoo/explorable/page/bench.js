// The stage: which elements are kept, the run that gives, and the views that follow one shared moment.

class Bench {
  constructor(page, theatre) {
    const { about } = page;
    Object.assign(this, { page, theatre, about, size: about.size });
    this.full = theatre.recorded;
    this.kept = new Set(Array.from({ length: this.size }, (_, i) => i));
    this.why = '';
    this.edits = null; // of a kept reduction that is more than switching off
    this.options = { op: 'zero', value: 0.5, start: 0 };
    this.fromGrid = this.showPoses = false;
    this.order = Array.from({ length: this.size }, (_, i) => i);
    this.moment = 0;
    this.playing = null;
    this.past = [];
    this.gaps = null;
    this.watchers = [];
    this.sight = new Sight(page);
    this.poses = theatre.poses?.standing() ?? null;
    this.yours = this.#run();
    this.#wire();
  }

  /** What is done to the memory now. */
  get changes() {
    return this.edits ?? onlyKeep(this.kept, this.size, this.options);
  }

  get most() {
    return Math.max(this.full.length, this.yours.length);
  }

  #run() {
    return this.theatre.play(this.changes, { fromGrid: this.fromGrid });
  }

  /** Keep these elements and play again. `edits` replace mere switching off. */
  choose(kept, why = '', edits = null) {
    this.past.push({ kept: this.kept, why: this.why, edits: this.edits });
    this.#set({ kept: new Set(kept), why, edits });
  }

  undo() {
    const before = this.past.pop();
    if (before) this.#set(before);
  }

  toggle(element) {
    const kept = new Set(this.kept);
    if (!kept.delete(element)) kept.add(element);
    this.choose(kept, 'by hand');
  }

  #set({ kept, why, edits }) {
    Object.assign(this, { kept, why, edits });
    this.again();
  }

  /** Play again with what is chosen now. */
  again() {
    this.yours = this.#run();
    const words = [...this.kept].sort((a, b) => a - b).join(',');
    history.replaceState(null, '', this.kept.size === this.size ? '#' : `#keep=${words}`);
    this.moment = Math.min(this.moment, this.most - 1);
    this.draw();
    for (const watcher of this.watchers) watcher(this);
  }

  /** Elements in the address, where somebody shared one. */
  fromAddress() {
    const found = /^#keep=([\d,]*)$/.exec(location.hash);
    if (!found) return;
    const kept = found[1].split(',').filter(Boolean).map(Number).filter((i) => i < this.size);
    this.choose(kept, 'from the link');
  }

  orderBy(measure) {
    const asIs = Array.from({ length: this.size }, (_, i) => i);
    this.order = measure === 'asis' ? asIs : orderBy(measure, this.full.states, this.size);
    this.draw();
  }

  go(moment) {
    this.moment = Math.max(0, Math.min(this.most - 1, moment));
    this.draw();
  }

  play(on = this.playing === null) {
    clearInterval(this.playing);
    this.playing = null;
    if (on) {
      if (this.moment >= this.most - 1) this.moment = 0;
      this.playing = setInterval(() => {
        if (this.moment >= this.most - 1) this.play(false);
        else this.go(this.moment + 1);
      }, 60);
    }
    $('play').textContent = this.playing === null ? '▶' : '❚❚';
    $('play').setAttribute('aria-label', this.playing === null ? 'Play' : 'Pause');
  }

  draw() {
    const { full, yours, moment, size, order, most, about, page } = this;
    say($('saidFull'), full, about);
    say($('saidYours'), yours, about);
    $('namedYours').textContent = `${this.kept.size} of ${size}`;
    const ways = [
      { run: full, hue: colour('full'), wide: 5 },
      { run: yours, hue: colour('yours') },
    ];
    drawMap($('map'), page, ways, { moment, poses: this.showPoses ? this.poses : null });
    drawHeat($('heatFull'), full, { size, order, most, moment });
    drawHeat($('heatYours'), yours, { size, order, most, moment, kept: this.kept });
    const canPlayOn = this.theatre.canPlayOn;
    drawStrips($('strips'), { full, yours, most, moment, items: about.items, canPlayOn, gaps: this.gaps });
    showWants($('wants'), { full, yours, moment, actions: about.actions });
    $('seenFrom').textContent = this.sight.draw($('view'), yours, moment);
    $('moment').max = String(most - 1);
    $('moment').value = String(moment);
    $('now').textContent = `step ${moment + 1} of ${most}`;
    $('mapSaid').textContent = this.#mapWords();
  }

  #mapWords() {
    const { yours, about } = this;
    if (!this.theatre.canPlayOn) return yours.otherwise.length ? 'Dots: where it would decide otherwise.' : '';
    if (yours.parted >= yours.length) return 'Every decision is the recorded one: nothing had to be filled in.';
    const where = yours.parted === 0 ? 'From the first step on' : `From step ${yours.parted + 1} on (ring)`;
    return `${where} the page fills in what it sees: dotted, and a good guess.`;
  }

  #wire() {
    $('play').addEventListener('click', () => this.play());
    $('moment').addEventListener('input', (event) => this.go(Number(event.target.value)));
    $('heatYours').addEventListener('click', (event) => this.toggle(this.order[this.#row(event)]));
    $('heatYours').addEventListener('mousemove', (event) => {
      event.target.title = `element ${this.order[this.#row(event)]}`;
    });
    for (const id of ['heatFull', 'strips'])
      $(id).addEventListener('click', (event) => this.go(Math.floor((event.offsetX / event.target.clientWidth) * this.most)));
    document.addEventListener('keydown', (event) => this.#key(event));
    new ResizeObserver(() => this.draw()).observe($('stage'));
    window.addEventListener('resize', () => this.draw());
    this.sight.ready.then(() => this.draw());
  }

  #row(event) {
    return Math.min(this.size - 1, Math.max(0, Math.floor((event.offsetY / event.target.clientHeight) * this.size)));
  }

  #key(event) {
    if (event.target.closest?.('input, select, button, summary')) return;
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) this.go(this.moment + by * (event.shiftKey ? 10 : 1));
    else if (event.key === ' ') this.play();
    else return;
    event.preventDefault();
  }
}

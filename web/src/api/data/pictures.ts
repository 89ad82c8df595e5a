/** Single pictures of a recording, wherever they lie: a few are on their way at a time, and some are kept. */
const atOnce = 6;
const maxPictures = 800;

export class Pictures {
  private readonly known = new Map<string, Promise<HTMLImageElement>>();
  private readonly waiting: (() => void)[] = [];
  private going = 0;

  get(address: string): Promise<HTMLImageElement> {
    const known = this.known.get(address);
    if (known) return known;
    const coming = this.bring(address);
    this.known.set(address, coming);
    coming.catch(() => this.known.delete(address));
    if (this.known.size > maxPictures) this.known.delete(this.known.keys().next().value!);
    return coming;
  }

  private async bring(address: string): Promise<HTMLImageElement> {
    if (this.going >= atOnce) await new Promise<void>((go) => this.waiting.push(go));
    this.going++;
    try {
      const image = new Image();
      image.src = address;
      await image.decode();
      return image;
    } finally {
      this.going--;
      this.waiting.shift()?.();
    }
  }
}

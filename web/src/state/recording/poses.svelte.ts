/** Who predicted the pose of the open recording's rows, in which domains, and how far off each prediction is. */
import { numbersOf, type ColumnData } from "../../api/data/columns";
import { messageOf } from "../../api/errors";
import type { Scene } from "../../api/model";
import { listPredictions, predictedName } from "../../api/predictions";
import { choice, text } from "../address/address.svelte";
import { domainsOf } from "./domains";
import type { OpenRecording } from "./recording";
import type { Session } from "../session.svelte";
import type { Attached } from "../workspace";
import { modelsOf, posesOf, type Posed, type PoseModel } from "./posed";

/** A number for each row of the recording; NaN where it is not known. */
export interface PoseValues {
  readonly xs: ArrayLike<number>;
  readonly ys: ArrayLike<number>;
  readonly position: ArrayLike<number>;
  /** Null where headings cannot be compared. */
  readonly heading: ArrayLike<number> | null;
  /** Where it believes to look, in degrees. */
  readonly headings_deg: ArrayLike<number> | null;
  readonly kinds: Extract<ColumnData, { type: "text" }> | null;
  /** How far it is to the prediction of the other domain; null where one alone is predicted. */
  readonly gap: ArrayLike<number> | null;
  readonly gapKinds: Extract<ColumnData, { type: "text" }> | null;
}

/** Where rows were recorded, and the ground that they lie on. */
export interface Truth {
  readonly xs: ArrayLike<number>;
  readonly ys: ArrayLike<number>;
  /** Where it looked, anticlockwise from the x axis; null where that is not known. */
  readonly headings_deg: ArrayLike<number> | null;
}

export type ErrorOf = "position" | "heading";

const whatKey = choice("error", ["position", "heading"]);
const modelKeys = [text("error-a"), text("error-b")] as const;
const degrees = (value: number): number => ((value % 360) + 360) % 360;
/** Nobody beside the first. */
export const nobody = "none";

export class Poses {
  /** In the order in which they were first predicted. */
  models = $state.raw<readonly PoseModel[]>([]);
  /** Whether it is known who predicted anything. */
  ready = $state(false);
  truth = $state.raw<Truth | null>(null);
  scene = $state.raw<Scene | null>(null);
  /** Of the ground, once it is here. */
  picture = $state.raw<HTMLImageElement | null>(null);
  problem = $state("");
  private loaded = $state.raw<ReadonlyMap<string, PoseValues>>(new Map());
  private readonly coming = new Set<string>();

  constructor(private readonly session: Session) {}

  attach(recording: OpenRecording, { same }: Pick<Attached, "same">): void {
    const { info } = recording;
    // What is shown of the same rows stays until it is read again.
    if (!same) [this.models, this.truth, this.scene, this.picture, this.ready] = [[], null, null, null, false];
    [this.loaded, this.problem] = [new Map(), ""];
    this.coming.clear();
    const current = (): boolean => this.session.recording?.info.name === info.name;
    const load = listPredictions(this.session.service.client, info.name).then(async (found) => {
      if (!current()) return;
      const models = modelsOf(posesOf(found), domainsOf(info.arrays));
      [this.models, this.ready] = [models, true];
      if (!models.length) return;
      await Promise.all([this.bringTruth(recording, models[0]!), this.bringScene(recording)]);
    });
    load.catch((failure: unknown) => {
      if (current()) this.problem = messageOf(failure);
    });
  }

  private async bringTruth(recording: OpenRecording, { sides }: PoseModel): Promise<void> {
    const { angle, angle_deg } = recording.info.pose;
    const { x, y } = sides[0]!.pose;
    const directed = angle && angle_deg ? [angle] : [];
    const [xs, ys, angles] = await Promise.all([x, y, ...directed].map((name) => recording.columns.whole(name)));
    if (this.session.recording !== recording) return;
    const headings_deg = angles ? Float64Array.from(numbersOf(angles), (value) => degrees(value * angle_deg!)) : null;
    this.truth = { xs: numbersOf(xs!), ys: numbersOf(ys!), headings_deg };
  }

  private async bringScene(recording: OpenRecording): Promise<void> {
    const { scene: key } = recording.info;
    if (!key) return;
    const scene = await recording.service.scene(key);
    if (this.session.recording !== recording) return;
    this.scene = scene;
    if (!scene.image) return;
    const picture = new Image();
    picture.onload = () => {
      if (this.session.recording === recording) this.picture = picture;
    };
    picture.onerror = () => (this.problem = "The picture of the map cannot be read.");
    picture.src = recording.service.mapAddress(key);
  }

  /** Whether some model predicts both pictures of a pair. */
  readonly paired = $derived(this.models.some((model) => model.sides.length > 1));

  /** The model that every view shows. */
  readonly a = $derived.by(() => this.named(this.session.get(modelKeys[0])) ?? this.models[0]);

  /** The one beside it, where one is wanted. */
  readonly b = $derived.by(() => {
    const rest = this.models.filter((model) => model !== this.a);
    const asked = this.session.get(modelKeys[1]);
    if (asked === nobody) return undefined;
    return rest.find((model) => model.title === asked) ?? (this.paired ? undefined : rest[0]);
  });

  readonly shown = $derived([this.a, this.b].filter((model) => model !== undefined));

  choose(slot: "a" | "b", title: string): void {
    const [a, b] = [this.a?.title ?? "", this.b?.title ?? nobody];
    if (slot === "a") {
      this.session.set(modelKeys[0], title);
      // What stood in front goes beside where the two change places.
      if (title === b) this.session.set(modelKeys[1], a);
    } else this.session.set(modelKeys[1], title === a ? nobody : title);
  }

  /** Whether headings can be compared, of those that are shown. */
  readonly headings = $derived(
    this.shown.length > 0 && this.shown.every(({ sides }) => sides.every(({ pose }) => pose.heading_error)),
  );
  readonly what = $derived.by((): ErrorOf => (this.headings ? this.session.get(whatKey) : "position"));

  measure(what: ErrorOf): void {
    this.session.set(whatKey, what);
  }

  /** The unit of what is measured. */
  readonly unit = $derived(this.what === "heading" ? "°" : (this.a?.unit ?? ""));

  /** The column of an error, as selections name it. */
  errorColumn({ prediction, pose }: Posed): string {
    return predictedName(prediction.id, this.what === "heading" ? pose.heading_error : pose.position_error);
  }

  /** What a side says, once it is here; asked for where it is not. To be read in an effect or a derived value. */
  values(side: Posed): PoseValues | undefined {
    const found = this.loaded.get(side.key);
    if (!found) void this.load(side);
    return found;
  }

  errors(side: Posed): ArrayLike<number> | undefined {
    const values = this.values(side);
    return this.what === "heading" ? (values?.heading ?? undefined) : values?.position;
  }

  private named(title: string): PoseModel | undefined {
    return this.models.find((model) => model.title === title);
  }

  private async load({ prediction, pose, key }: Posed): Promise<void> {
    const recording = this.session.recording;
    if (!recording || this.coming.has(key)) return;
    this.coming.add(key);
    const numbers = (data: ColumnData | null): ArrayLike<number> | null => data && numbersOf(data);
    const words = (data: ColumnData | null) => (data?.type === "text" ? data : null);
    const wanted = [
      pose.predicted_x,
      pose.predicted_y,
      pose.position_error,
      pose.heading_error,
      pose.predicted_heading,
      pose.error_kind,
      pose.gap,
      pose.gap_kind,
    ];
    const there = wanted.filter((name) => name).map((name) => predictedName(prediction.id, name!));
    const load = recording.columns.wholes(there).then((columns) => {
      if (this.session.recording !== recording) return;
      const found = new Map(there.map((name, i) => [name, columns[i]!]));
      const [x, y, position, heading, turned, kinds, gap, gapKinds] = wanted.map((name) =>
        name ? found.get(predictedName(prediction.id, name))! : null,
      );
      const values: PoseValues = {
        xs: numbers(x!)!,
        ys: numbers(y!)!,
        position: numbers(position!)!,
        heading: numbers(heading!),
        headings_deg: numbers(turned!),
        kinds: words(kinds!),
        gap: numbers(gap!),
        gapKinds: words(gapKinds!),
      };
      this.loaded = new Map([...this.loaded, [key, values]]);
    });
    await load.catch((failure: unknown) => void (this.problem = messageOf(failure)));
  }
}

import { expect, test } from "vitest";
import { History } from "../undo/history";
import { formatLink, parseLink, type Link } from "./link";

test("a link gives back what it was made from", () => {
  const link: Link = {
    workspace: "episodes",
    recording: "health 1 / ü & <b>",
    group: 7,
    step: 213,
    selection: "uv,low%20health,health,,20;d!r,a%2Cb,0-3",
    settings: { measure: "entropy", "hide&seek": "a=b" },
  };
  expect(parseLink(formatLink(link))).toEqual(link);
});

test("an empty or broken address opens the beginning", () => {
  expect(parseLink("")).toEqual({ workspace: "", recording: "", group: null, step: null, selection: "", settings: {} });
  expect(parseLink("#/episodes/%E0%A4%A?step=-4&episode=x").group).toBeNull();
});

test("undo and redo walk through what was, and a new change forgets the undone", () => {
  const history = new History("a");
  history.push("b");
  history.push("c");
  expect(history.undo()).toBe("b");
  expect(history.undo()).toBe("a");
  expect(history.undo()).toBe("a");
  expect(history.redo()).toBe("b");
  history.push("d");
  expect(history.canRedo).toBe(false);
  expect(history.undo()).toBe("b");
});

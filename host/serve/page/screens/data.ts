/** The memory as a whole: take it along, look for problems, erase it. */
import { shownPath } from "../../../../shared/encoded-name.ts";
import { zipOf } from "../../../archive/write-zip.ts";
import { counted } from "../../../markup/elements.ts";
import { html } from "../../../markup/markup.ts";
import type { Markup } from "../../../markup/markup.ts";
import type { Finding } from "../../../owner/finding.ts";
import type { OpenExport } from "../../../owner/memory-files.ts";
import type { MemoryFile } from "../../../values/memory-file.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { alert, button, field, form, kept, linkTo, points } from "./elements.ts";
import type { Screen, Shown, Visit } from "./visit.ts";

export const data: Screen = {
  async look(visit) {
    const { to, person } = visit;
    const erasing = html`<h2>Erase</h2>
      <p>Deletes everything that is kept of you here, for good. You are asked again first.</p>
      <p><a href="${to(["erase"])}">Erase everything…</a></p>`;
    return {
      title: "Your data",
      body: html`<h2>Save a copy</h2>
        <p>
          One zip file with all notes as plain text files, and the trash. Every computer can open it, and memcell on
          another computer can read it. So can whoever gets it. Earlier texts are not in it.
        </p>
        ${form(visit, ["download"], html`<button class="main">Download</button>`, true)}
        <h2>Look for problems</h2>
        <p>
          Says which notes no assistant can read, and which lists are damaged. It changes nothing, and does not say
          whether a note is true.
        </p>
        <p><a href="${to(["check"])}">Look for problems</a></p>
        ${person.mayChange ? erasing : null}`,
    };
  },
};

export const download: Screen = {
  isReading: true,
  async act(visit) {
    const exported = await visit.runtime.upkeep.openExport(visit.ctx);
    const { files, leftOut } = exported;
    if (leftOut.length === 0 || visit.form.get("plan") === "without") {
      const content = zipOf({ files, contents: () => wholeOf(exported) });
      return { file: "memory.zip", type: "application/zip", content };
    }
    return {
      title: "Not everything fits",
      body: html`<p>These files cannot be in the zip file:</p>
        ${points(leftOut.map(({ scope, path, reason }) => html`${shownPath(`${scope}/${path}`)}: ${reason}`))}
        ${form(visit, ["download"], html`${kept("plan", "without")}<button class="main">Download the others</button>`, true)}
        ${back(visit)}`,
    };
  },
};

/** A download that lacks a file of which the person was not told breaks off: nobody shall take it for whole. */
async function* wholeOf(exported: OpenExport): AsyncGenerator<MemoryFile> {
  const told = exported.leftOut.length;
  yield* exported.contents();
  if (exported.leftOut.length === told) return;
  throw new ToolError("BUSY", "Cannot download the memory: a file was edited meanwhile");
}

const back = (visit: Visit): Markup => linkTo(visit, ["data"], html`Your data`);

export const check: Screen = {
  async look(visit) {
    const findings = await visit.runtime.upkeep.inspect(visit.ctx);
    const canMend = findings.some(({ remedy }) => remedy !== null);
    return {
      title: "Looked for problems",
      body: html`${findings.length === 0 ? html`<p>No problem was found.</p>` : points(findings.map(findingIn))}
      ${canMend ? button(visit, ["check"], "Mend what can be mended", "main") : null} ${back(visit)}`,
    };
  },
  async act(visit): Promise<Shown> {
    const mended = await visit.runtime.upkeep.mend(visit.ctx);
    return {
      title: "Mended",
      body: html`${mended.length === 0 ? html`<p>There was nothing to mend.</p>` : points(mended.map(findingIn))}
      ${back(visit)}`,
    };
  },
};

const findingIn = ({ path, message, remedy }: Finding): Markup =>
  html`<strong>${shownPath(path)}</strong>: ${message}.
    ${remedy === null ? html`Only a person can help.` : html`Mending: ${remedy}.`}`;

export const erase: Screen = {
  async look(visit) {
    return await eraser(visit, null);
  },
  async act(visit) {
    const { runtime, ctx, person, form: sent } = visit;
    if ((sent.get("name") ?? "").trim().normalize("NFC") !== person.userId) {
      return { ...(await eraser(visit, html`Nothing was erased: the name that you typed is not yours.`)), status: 422 };
    }
    const { left } = await runtime.upkeep.erase(ctx);
    if (left.length === 0) return { left: "erased" };
    const rest = points(left.map(({ path, reason }) => html`${path}: ${reason}`));
    const words = html`<p>Nothing is kept of you here for assistants any more, and you are signed out.</p>
      <p>These could not be removed yet; the server tries again when it starts:</p>`;
    return { left: { title: "Erased", body: html`${words}${rest}` } };
  },
};

async function eraser(visit: Visit, problem: Markup | null): Promise<Shown> {
  const { runtime, ctx, person, to } = visit;
  const { grantees, granters, mounted } = await runtime.upkeep.planErase(ctx);
  const grants = grantees.length + granters.length;
  const asked = html`${field("name", html`To erase everything, type your name here: ${person.userId}`)}
    <button class="grave">Erase everything for good</button>`;
  return {
    title: "Erase everything",
    body: html`${problem && alert(problem)}
      <p>
        This deletes everything: every note, its earlier texts and the
        trash${grants === 0 ? null : html`, and ends ${counted(grants, html`sharing`, html`sharings`)}`}. Nobody can
        bring them back. <a href="${to(["data"])}">Save a copy first</a>
      </p>
      <p>
        What stays: a record of what was done when, which has the names of notes and none of their text, and what you
        have written in notebooks of others.
      </p>
      ${mounted.length === 0 ? null : html`<p>These folders stay: ${mounted.join(", ")}.</p>`}
      ${form(visit, ["erase"], asked)}`,
  };
}

/** What waits for the owner's decision: one decision a page, with everything that it would change. */
import { shownPath } from "../../../../shared/encoded-name.ts";
import { isAtLeast } from "../../../../shared/origin.ts";
import { facts } from "../../../markup/elements.ts";
import { html } from "../../../markup/markup.ts";
import type { Markup, Value } from "../../../markup/markup.ts";
import { fileToCorrect } from "../../../owner/waiting-write.ts";
import type { ShownFile, ShownWrite, WaitingFile, WaitingWrite } from "../../../owner/waiting-write.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { alert, button, linkTo, origin, paged, pagedQuery, time } from "./elements.ts";
import { sourcesOf, titleOf } from "./places.ts";
import { difference, hidden, textForm, typedOver, wholeText, whyNotTyped } from "./texts.ts";
import { NothingHere } from "./visit.ts";
import type { Done, Screen, Shown, Visit } from "./visit.ts";

const idOf = ({ names }: Pick<Visit, "names">): string => names.join("/");

/** A list without a name, and one suggestion with its id. */
export const waiting: Screen = {
  query: pagedQuery,
  async look(visit) {
    const { runtime, ctx } = visit;
    if (idOf(visit) !== "") return suggestion(visit, await runtime.upkeep.showPending(ctx, idOf(visit)));
    const writes = await runtime.upkeep.pending(ctx);
    return {
      title: "For you to decide",
      body: html`<p>
          What an assistant wants to remember waits here if it comes from elsewhere, such as a web page. No assistant
          uses it before you approve it. What you do not decide about is deleted after 30 days.
        </p>
        ${paged(visit, writes, (write) => item(visit, write), html`Nothing waits now.`)}`,
    };
  },
};

function item({ to }: Visit, { id, at, ...write }: WaitingWrite): Markup {
  const files = noted(write.files);
  const words = files.map(({ change }) => changes[change]).join(", ");
  return html`<a href="${to(["waiting", id])}">${files.map(({ path }) => titleOf(path)).join(", ")}</a>
    <p class="note">${words}, ${time(at)}, ${origin(write)}</p>`;
}

/** Without what plugins make from other files. */
const noted = <File extends WaitingFile>(files: readonly File[]): File[] => files.filter(({ isDerived }) => !isDerived);

function suggestion(visit: Visit, write: ShownWrite): Shown {
  const { at, expires, isCurrent } = write;
  return {
    title: "A suggestion",
    body: html`${isCurrent ? null : html`<p class="warning">What it would change has changed since. If you approve it, it is shown to you again as it would be now.</p>`}
    ${facts([
      [html`Comes from`, origin(write)],
      ...sourcesOf(visit, write),
      [html`Suggested`, time(at)],
      [html`Will be deleted`, html`${time(expires)}, if you do not decide`],
    ])}
    ${noted(write.files).map(changeIn)} ${decisions(visit, write)}
    ${linkTo(visit, ["waiting"], html`Everything that waits`)}`,
  };
}

const changes = { create: "A new note", replace: "A changed note", trash: "A note for the trash" } as const;

/** A difference leaves out what stays as it is, and an approval is about all of it. */
function changeIn({ scope, path, change, text, lines, presentTrust }: ShownFile): Markup {
  const isLow = presentTrust !== null && !isAtLeast(presentTrust, "direct_user");
  const noText = change === "trash" ? html`The whole note.` : html`It is not text.`;
  const rest = html`<p>
    You have not written the rest of it either. If you approve this, all of it counts as your own words:
  </p>`;
  return html`<section>
    <h2>${changes[change]}: ${titleOf(path)}</h2>
    <p class="note">File: ${shownPath(`${scope}/${path}`)}</p>
    ${hidden(text ?? "")}
    ${lines !== null ? difference(lines) : text !== null ? wholeText(text) : html`<p>${noText}</p>`}
    ${isLow && text !== null ? [rest, wholeText(text)] : null}
  </section>`;
}

function decisions(visit: Visit, write: ShownWrite): Value {
  if (!visit.person.mayChange) return null;
  return html`<p>
      If you approve it, assistants use it, and it counts as your own words. Would you have written it? If you reject
      it, it is deleted for good.
    </p>
    <div class="row">
      ${button(visit, ["approve", write.id], "Approve")}
      ${canBeCorrected(visit, write) ? html`<a class="button" href="${visit.to(["correct", write.id])}">Correct it first</a>` : null}
      ${button(visit, ["reject", write.id], "Reject", "grave")}
    </div>`;
}

function canBeCorrected({ formBytesMax }: Visit, write: WaitingWrite): boolean {
  try {
    return whyNotTyped(fileToCorrect(write).text, formBytesMax) === null;
  } catch {
    return false;
  }
}

export const correct: Screen = {
  async look(visit) {
    const write = await visit.runtime.upkeep.showPending(visit.ctx, idOf(visit));
    if (!canBeCorrected(visit, write)) throw new NothingHere();
    return corrector(visit, write, fileToCorrect(write).text);
  },
};

function corrector(visit: Visit, write: WaitingWrite, text: string, told: Value = null): Shown {
  const [label, words, back] = [html`What is to be remembered`, html`Approve this text`, ["waiting", idOf(visit)]];
  const asked = textForm(visit, ["approve", idOf(visit)], { label, text, button: words, back, more: null });
  return {
    title: "Correct a suggestion",
    body: html`${told}
      <p>Comes from: ${origin(write)}</p>
      ${asked}`,
  };
}

export const approve: Screen = {
  async act(visit): Promise<Done | Shown> {
    const { runtime, ctx, form: sent } = visit;
    const typed = sent.get("text");
    const write = typed === undefined ? null : await runtime.upkeep.showPending(ctx, idOf(visit));
    try {
      const text = typed === undefined || write === null ? undefined : typedOver(fileToCorrect(write).text, typed);
      const approval = await runtime.upkeep.approve(ctx, idOf(visit), { text });
      if (approval.applied) return { to: ["waiting"], done: "approved" };
      const again = suggestion(visit, approval.write);
      const told = alert(
        html`Nothing was approved: the note has changed meanwhile. This is what the suggestion would change now.`,
      );
      return { ...again, body: html`${told}${again.body}`, status: 409 };
    } catch (error) {
      if (write === null || !(error instanceof ToolError) || error.code === "ENTRY_NOT_FOUND") throw error;
      return {
        ...corrector(visit, write, typed ?? "", alert(html`Nothing was approved. ${error.message}`)),
        status: 422,
      };
    }
  },
};

export const reject: Screen = {
  async act(visit) {
    await visit.runtime.upkeep.reject(visit.ctx, idOf(visit));
    return { to: ["waiting"], done: "rejected" };
  },
};

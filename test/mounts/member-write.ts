/** A process of someone who is in a group and no more: it replaces `a.md` in a folder as a commit does. */
import { DiskRoot } from "../../host/disk/data-root.ts";

const [dir = "", user = "", group = ""] = process.argv.slice(2);
process.setgroups?.([Number(group)]);
process.setgid?.(Number(user));
process.setuid?.(Number(user));

using folder = DiskRoot.mounted(dir).open();
if (folder === null) throw new Error("The folder is not there");
folder.create("staged", Buffer.from("new"), "a.md", folder.permissionsOf("a.md"));
folder.rename("staged", folder, "a.md");

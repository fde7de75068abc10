/** A process of a user who is only in the folder's group. It replaces `a.md` in a folder as a commit does. */
import { DiskRoot } from "../../host/disk/data-root.ts";

const [dir = "", user = "", group = ""] = process.argv.slice(2);
process.setgroups?.([Number(group)]);
process.setgid?.(Number(user));
process.setuid?.(Number(user));

using folder = DiskRoot.mounted(dir).open();
if (folder === null) throw new Error("The folder is not there");
folder.create("staged", Buffer.from("new"), "a.md", folder.permissionsOf("a.md"));
folder.rename("staged", folder, "a.md");

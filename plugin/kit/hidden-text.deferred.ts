/** The rule about hidden characters. Deferred (`build/README.md`): nearly all texts have none. */
export { firstHidden, hiddenPlace, withoutHidden } from "../../shared/hidden-text.ts";

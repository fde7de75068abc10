/** What memcell uses of LangGraph. Only this file imports it. */
export { BaseStore } from "@langchain/langgraph-checkpoint";
export type { Item, Operation, OperationResults, SearchItem } from "@langchain/langgraph-checkpoint";

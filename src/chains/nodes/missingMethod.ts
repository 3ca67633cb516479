import type { RpcRefusal } from './endpoint.js'

/** Whether a node does not offer what it was asked: no reason to call it unhealthy. */
export const isMissingMethod = ({ code, message }: RpcRefusal): boolean =>
  code === -32601 ||
  code === -32604 ||
  /method (not found|.*(not (available|supported|found)|does not exist))/i.test(message)

import type { RpcRefusal } from './endpoint.js'

const executionWords =
  /revert|out ?of ?gas|gas required exceeds|invalid opcode|invalid jump|stack (under|over)flow|vm exception|intrinsic gas|opcodenotfound|stopped|insufficient (funds|balance)/i

/** Whether a refusal is what the chain itself says of a call: then every node says the same. */
export const isExecutionFailure = (refusal: RpcRefusal): boolean =>
  refusal.code === 3 || refusal.data !== null || executionWords.test(refusal.message)

/** Whether the sender of a call cannot pay for its gas. The sender is ours, so no payer is to blame. */
export const isEmptyGasWallet = ({ data, message }: RpcRefusal): boolean =>
  data === null && /insufficient (funds for gas|sender balance|maxfeepergas)/i.test(message)

/** Whether a node does not offer what it was asked: no reason to call it unhealthy. */
export const isMissingMethod = ({ code, message }: RpcRefusal): boolean =>
  code === -32601 ||
  code === -32604 ||
  /method (not found|.*(not (available|supported|found)|does not exist))/i.test(message)

import type { RpcError } from '../../nodes/endpoint.js'
import { readRevertData } from './revertData.js'

const executionErrorTexts =
  /revert|out ?of ?gas|gas required exceeds|invalid opcode|invalid jump|stack (under|over)flow|vm exception|intrinsic gas|opcodenotfound|stopped|insufficient (funds|balance)/i

/** Whether a refusal is what the chain itself says of a call: then every node says the same. */
export const isExecutionFailure = (refusal: RpcError): boolean =>
  refusal.code === 3 || readRevertData(refusal) !== null || executionErrorTexts.test(refusal.message)

/** Whether the sender of a call cannot pay for its gas. The sender is ours, so no payer is to blame. */
export const isEmptyGasWallet = (refusal: RpcError): boolean =>
  readRevertData(refusal) === null &&
  /insufficient (funds for gas|sender balance|maxfeepergas)/i.test(refusal.message)

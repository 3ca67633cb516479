import type { Hex } from 'viem'
import { z } from 'zod'
import type { RpcError } from '../../nodes/endpoint.js'

const executionErrorTexts =
  /revert|out ?of ?gas|gas required exceeds|invalid opcode|invalid jump|stack (under|over)flow|vm exception|intrinsic gas|opcodenotfound|stopped|insufficient (funds|balance)/i

/** Whether the call itself failed in execution: then every node returns the same error. */
export const isExecutionFailure = (refusal: RpcError): boolean =>
  refusal.code === 3 || readRevertData(refusal) !== null || executionErrorTexts.test(refusal.message)

/** Whether the sender, which is ours, cannot pay for the gas of a call. */
export const isEmptyGasWallet = (refusal: RpcError): boolean =>
  readRevertData(refusal) === null &&
  /insufficient (funds for gas|sender balance|maxfeepergas)/i.test(refusal.message)

const hexData = z.string().regex(/^0x[0-9a-fA-F]*$/)

/** Revert data of a call, or null: nodes put it in `data` or in `data.data`. */
export const readRevertData = ({ data }: RpcError): Hex | null => {
  const nested = z
    .union([hexData, z.object({ data: hexData }).transform((inner) => inner.data)])
    .safeParse(data)
  return nested.success ? `0x${nested.data.slice(2)}` : null
}

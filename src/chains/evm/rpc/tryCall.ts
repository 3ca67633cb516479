import type { Hex } from 'viem'
import { AppError } from '../../../errors.js'
import { RpcError } from '../../nodes/endpoint.js'
import type { CallRequest, Rpc } from './rpc.js'

/** The result of a large call; null when it fails, or when the nodes refuse it, perhaps for its size. */
export const tryCall = async (rpc: Rpc, call: CallRequest): Promise<Hex | null> => {
  try {
    const answer = await rpc.call(call)
    return answer.succeeds ? answer.value : null
  } catch (error) {
    if (error instanceof AppError && error.cause instanceof RpcError) return null
    throw error
  }
}

import type { Hex } from 'viem'
import { AppError } from '../../../errors.js'
import { RpcError } from '../../nodes/endpoint.js'
import type { CallRequest, Rpc } from './rpc.js'

/** What a large call answers; null when it fails, or when a node was there and did not want it: it may want smaller ones. */
export const tryCall = async (rpc: Rpc, call: CallRequest): Promise<Hex | null> => {
  try {
    const answer = await rpc.call(call)
    return answer.succeeds ? answer.value : null
  } catch (error) {
    if (error instanceof AppError && error.cause instanceof RpcError) return null
    throw error
  }
}

import type { ContractReader } from '../../chain.js'
import type { Rpc } from './rpc.js'

export const createContractReader = (network: string, rpc: Rpc): ContractReader => ({
  network,
  getCode: rpc.getCode,
  call: async (request) => {
    const answer = await rpc.call(request)
    return answer.succeeds ? answer.value : null
  },
})

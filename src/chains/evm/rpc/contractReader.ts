import type { ContractReader } from '../../chain.js'
import type { UntrustedCalls, UntrustedOccasion } from './untrustedCalls.js'

export const createContractReader = (
  network: string,
  calls: Pick<UntrustedCalls, 'call'>,
  occasion: UntrustedOccasion = 'check',
): ContractReader => ({
  network,
  run: async ({ code, gas, findUnusedGas }, requester) => {
    const answer = await calls.call({ to: null, data: code, gas }, { requester, occasion }, (given) =>
      findUnusedGas(given.succeeds ? given.value : null),
    )
    return answer.succeeds ? answer.value : null
  },
})

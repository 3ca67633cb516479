import type { Hex } from 'viem'
import type { Requester } from '../../../ports/rateLimiter.js'
import type { ContractReader } from '../../chain.js'
import { isCounterfactual, readCounterfactual } from '../signatures/signature.js'
import { encodeWalletCheck, readWalletCheck } from './walletCheck.js'

interface ContractSignature {
  readonly address: Hex
  readonly signature: Hex
  readonly digests: readonly Hex[]
  readonly requester: Requester
}

/** For all digests together, with the creation of the wallet. */
const checkGas = 3_000_000n

/**
 * Whether a wallet contract accepts the signature of one of the digests. A factory of the signer's choice is called
 * only within `eth_call`, by a contract that exists nowhere: never by a transaction, never from an account of ours.
 */
export const isSignedByContract = async (
  contracts: ContractReader,
  { address, signature, digests, requester }: ContractSignature,
): Promise<'eip1271' | 'eip6492' | null> => {
  const wrapped = isCounterfactual(signature) ? readCounterfactual(signature) : null
  if (wrapped === null && isCounterfactual(signature)) return null
  const data = encodeWalletCheck({
    address,
    digests,
    signature: wrapped?.bytes ?? signature,
    factory: wrapped === null ? null : { address: wrapped.factory, data: wrapped.factoryData },
  })
  const findUnusedGas = (result: Hex | null) => readWalletCheck(result).unusedGas
  const result = await contracts.run({ code: data, gas: checkGas, findUnusedGas }, requester)
  if (!readWalletCheck(result).isAccepted) return null
  return wrapped === null ? 'eip1271' : 'eip6492'
}

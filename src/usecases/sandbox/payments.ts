import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import { canonicalNetwork } from '../../protocol/network.js'
import { requireNetwork, type SandboxNetworks } from './scenarios.js'
import type { SandboxUseCases } from './useCases.js'

const fixedName = /^cafe[0-9a-f]{2}$/i

/** Fixed payers on EVM networks are known by their last six digits. */
export const createPaymentWriter =
  (chain: SandboxNetworks, clock: Clock): SandboxUseCases['createPayment'] =>
  (query) => {
    const network = requireNetwork(chain, canonicalNetwork(query.network))
    const payer =
      fixedName.test(query.payer) && network.startsWith('eip155:')
        ? `0x${query.payer.toUpperCase().padStart(40, '0')}`
        : query.payer
    const payment = chain.writeRequest(network, payer, clock.now())
    if (payment === null) throw new AppError('INVALID_REQUEST', `payer: must be an address of ${network}`)
    return payment
  }

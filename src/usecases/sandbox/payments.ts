import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import { canonicalNetwork } from '../../protocol/network.js'
import { requireNetwork, type SandboxNetworks } from './scenarios.js'
import type { SandboxUseCases } from './useCases.js'

/** The payer by its name, or by an address of the network. */
export const createPaymentWriter =
  (chain: SandboxNetworks, clock: Clock): SandboxUseCases['createPayment'] =>
  (query) => {
    const network = requireNetwork(chain, canonicalNetwork(query.network))
    const payer = chain.findFixedPayer(network, query.payer) ?? query.payer
    const payment = chain.writeRequest(network, payer, clock.now())
    if (payment !== null) return payment
    throw new AppError(
      'INVALID_REQUEST',
      `payer: must be an address of ${network}, or the name of a payer that GET /sandbox/addresses lists`,
    )
  }

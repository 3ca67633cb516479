import type { Clock } from '../../../ports/clock.js'
import type { Scheme, ValidVerdict } from '../../../schemes/scheme.js'
import { readAddress } from '../abi/address.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings, EvmSettings } from '../settings.js'
import type { TokenRegistry } from '../tokens/tokenRegistry.js'
import type { TransactionEngine } from '../transactions/engine.js'
import type { SettlementCall } from '../transactions/settlementCall.js'
import { readJudge } from './judge.js'
import { formatAuthorizationId, readExactProof } from './payload.js'
import { createPrepare, toRefusal } from './prepare.js'

/** What `exact` needs on one EVM network. */
export interface ExactDependencies {
  readonly family: EvmSettings
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly tokens: TokenRegistry
  readonly engine: TransactionEngine
  readonly clock: Clock
}

/** `exact` by EIP-3009 on one EVM network. */
export const createExactScheme = (dependencies: ExactDependencies): Scheme => {
  const { family, network, rpc, engine } = dependencies
  const prepare = createPrepare(dependencies)

  return {
    kind: { scheme: 'exact', network: network.network },
    signers: engine.signers,

    identify: (payment) => {
      const reading = readExactProof(payment.proof)
      const asset = readAddress(payment.requirements.asset)
      if ('problem' in reading || asset === null) return null
      const { from, nonce } = reading.proof.authorization
      return formatAuthorizationId({ network: network.network, asset, from, nonce })
    },

    verify: async (payment, { isAwaited, precedesSettle }) => {
      const preparation = await prepare(payment, { marginSeconds: 0, isKept: precedesSettle })
      if ('refused' in preparation) return preparation.refused
      if (!isAwaited()) throw new Error('Nobody waits for the verdict any more')
      const { call } = preparation
      const reason = await engine.simulate(call)
      return reason === null ? toVerdict(call) : toRefusal(call.payer, reason)
    },

    settle: async (payment, recorder, options) => {
      const preparation = await prepare(payment, {
        marginSeconds: family.expiryMarginSeconds,
        isKept: false,
      })
      if ('refused' in preparation) return { state: 'failed', reason: preparation.refused.reason }
      return await engine.settle(preparation.call, recorder, options)
    },

    resolve: async (settlement, signal) =>
      await engine.resolve(settlement, readJudge(rpc, settlement), signal),

    getBlockStatus: engine.getBlockStatus,
  }
}

const toVerdict = ({ payer, id, amount, deadline }: SettlementCall): ValidVerdict => ({
  isValid: true,
  payer,
  authorizationId: id,
  amount,
  expiresAt: toDate(deadline),
})

// The latest instant that a Date can hold; authorizations may be valid for longer.
const latestInstantMs = 8_640_000_000_000_000n

const toDate = (seconds: bigint): Date => {
  const instantMs = seconds * 1_000n
  return new Date(Number(instantMs < latestInstantMs ? instantMs : latestInstantMs))
}

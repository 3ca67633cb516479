import type { Clock } from '../../../ports/clock.js'
import type { Authorized, Scheme } from '../../../schemes/scheme.js'
import { readAddress } from '../abi/address.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings, EvmSettings } from '../settings.js'
import type { TokenRegistry } from '../tokens/tokenRegistry.js'
import type { TransactionEngine } from '../transactions/engine.js'
import { readJudge } from './judge.js'
import { formatAuthorizationId, readExactProof } from './payload.js'
import { createPreparer, type Prepared, toRefusal } from './prepare.js'

export interface ExactDependencies {
  readonly family: EvmSettings
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly tokens: TokenRegistry
  readonly engine: TransactionEngine
  readonly clock: Clock
}

export const createExactScheme = (dependencies: ExactDependencies): Scheme => {
  const { family, network, rpc, engine } = dependencies
  const { prepare, prepareAgain } = createPreparer(dependencies)

  const authorize = (prepared: Prepared): Authorized => {
    const { payer, id, amount, deadline } = prepared.call
    return {
      isValid: true,
      payer,
      authorizationId: id,
      authorizedAmount: amount,
      amount,
      expiresAt: toDate(deadline),
      details: { nonce: prepared.candidate.authorization.nonce },
      settle: async (recorder, options) => {
        const preparation = await prepareAgain(prepared, family.expiryMarginSeconds)
        if ('refused' in preparation) return { state: 'failed', reason: preparation.refused.reason }
        return await engine.settle(preparation.prepared.call, recorder, options)
      },
    }
  }

  return {
    kind: { scheme: 'exact', network: network.network },
    signers: engine.signers,

    isAddress: (text) => readAddress(text) !== null,

    identify: (payment) => {
      const reading = readExactProof(payment.proof)
      const asset = readAddress(payment.requirements.asset)
      if ('problem' in reading || asset === null) return null
      const { from, nonce } = reading.proof.authorization
      return formatAuthorizationId({ network: network.network, asset, from, nonce })
    },

    verify: async (payment, { isAwaited, isForSettle = false }) => {
      const preparation = await prepare(payment, isForSettle ? family.expiryMarginSeconds : 0)
      if ('refused' in preparation) return preparation.refused
      if (!isAwaited()) throw new Error('The caller is gone')
      const { call } = preparation.prepared
      const reason = await engine.simulate(call)
      return reason === null ? authorize(preparation.prepared) : toRefusal(call.payer, reason)
    },

    resolve: async (settlement, signal) =>
      await engine.resolve(settlement, readJudge(rpc, settlement), signal),

    getBlockStatus: engine.getBlockStatus,
  }
}

// The latest instant that a Date can hold; authorizations may be valid for longer.
const latestInstantMs = 8_640_000_000_000_000n

const toDate = (seconds: bigint): Date => {
  const instantMs = seconds * 1_000n
  return new Date(Number(instantMs < latestInstantMs ? instantMs : latestInstantMs))
}

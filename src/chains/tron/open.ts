import type { ChainContext, OpenChain } from '../chain.js'
import { openSettlingFamily, type UnopenedNetwork } from '../common/settling/openFamily.js'
import { createSponsoring, sponsoredForms } from '../common/sponsoring.js'
import { formatAddress, readAddress } from './encoding/address.js'
import { createDelegationCost, createPriceCache } from './energy/energyCosts.js'
import { createEnergyDelegator } from './energy/energyDelegator.js'
import { createExactScheme } from './exact/scheme.js'
import { isRecoveryNative } from './exact/signature.js'
import { createTronNetwork, hasToken } from './network.js'
import { coinDecimals } from './networks.js'
import { createRpc } from './rpc/rpc.js'
import type { TronNetworkSettings, TronSettings } from './settings.js'

/** A wrong key stops the start. */
export const open = async (settings: TronSettings, context: ChainContext): Promise<OpenChain> => {
  if (!isRecoveryNative) {
    context.logger.warn(
      { hint: 'no native secp256k1 addon fits this machine' },
      'signature.native_addon_missing',
    )
  }
  const family = { ...settings, coinDecimals, urlVariable: 'TRON_RPC_URL_<network>' }
  return await openSettlingFamily(family, context, (network) => prepareNetwork(settings, network, context))
}

const prepareNetwork = (
  family: TronSettings,
  network: TronNetworkSettings,
  context: ChainContext,
): UnopenedNetwork => {
  const { clock, limiter, logger } = context
  const sponsoring = createSponsoring({
    network: network.network,
    terms: context.sponsoring ?? null,
    addressForm: sponsoredForms.tron,
    normalize: (text) => {
      const address = readAddress(text)
      return address === null ? null : formatAddress(address)
    },
    // A transfer that no block holds although its energy was delegated: the payer used the energy, or what else it needs.
    failures: ['transaction_failed', 'transfer_event_mismatch', 'authorization_expired_unsettled'],
    clock,
  })
  const rpc = createRpc(network, { timeoutMs: family.rpcTimeoutMs, logger })
  const sponsor =
    family.sponsor === null
      ? null
      : createEnergyDelegator(network, family.sponsor, { rpc, limiter, clock, logger })
  return {
    nodes: rpc,
    describeWrongChain: (actual) =>
      `TRON_RPC_URL_${network.name}: the endpoint serves chain 0x${actual}, not 0x${network.chainId}`,
    findOwnProblem: async () => {
      await sponsor?.check()
      return null
    },
    listSigners: () => (sponsor === null ? [] : [sponsor.health()]),
    // Never `empty`: payers with energy or TRX need none of ours.
    getBalanceLevel: () => (sponsor !== null && sponsor.health().settlementsLeft === 0 ? 'low' : 'ok'),
    hasToken: (contract) => hasToken(rpc, contract),
    start: (terms) => {
      const readPrices = createPriceCache(rpc, clock)
      const delegationCost = createDelegationCost()
      const fees = { rpc, sponsor, readPrices, delegationCost }
      const scheme = createExactScheme({
        ...fees,
        network,
        opened: createTronNetwork({ ...fees, settings: network }, terms),
        sponsoring,
        expiryMarginSeconds: family.expiryMarginSeconds,
        crossCheckAmount: family.crossCheckAmount,
        clock,
        minimum: terms.minimum,
      })
      return { scheme, ...(sponsor === null ? {} : { close: sponsor.close }) }
    },
  }
}

import type { Fees, Network } from '../../schemes/network.js'
import { createMinimumPayment, type MinimumPayment } from '../common/minimumPayment.js'
import { listKnownTokens } from '../common/tokens.js'
import { isSameAddress, normalizeAddress, readAddress } from './abi/address.js'
import { coinDecimals, findChainFacts, findKnownNetwork } from './networks.js'
import type { MethodDependencies } from './paymentMethod.js'
import type { EvmNetworkSettings } from './settings.js'
import { readBalance } from './tokens/erc20.js'
import type { TokenRegistry } from './tokens/tokenRegistry.js'
import type { TransactionEngine } from './transactions/engine.js'

// Networks whose pace is not known have that of Ethereum.
const slowBlockSeconds = 12

interface NetworkDependencies
  extends Pick<MethodDependencies, 'rpc' | 'tokens' | 'engine'>,
    Pick<Network, 'isTooLarge' | 'vouchers' | 'routers'> {
  readonly settings: EvmNetworkSettings
  readonly minimum: MinimumPayment
}

export const createEvmNetwork = ({
  settings,
  rpc,
  tokens,
  engine,
  minimum,
  isTooLarge,
  vouchers,
  routers,
}: NetworkDependencies): Network => {
  const { network: id, chainId, confirmations } = settings
  const { isTestnet, blockSeconds } = findChainFacts(chainId)
  const isAddress = (text: string): boolean => readAddress(text) !== null
  return {
    id,
    isTestnet,
    signers: engine.signers,
    secondsToSettle: blockSeconds === null ? null : Math.ceil(Math.max(1, blockSeconds * confirmations)),
    settlementsPerSecond: () => engine.countPerSecond(blockSeconds ?? slowBlockSeconds),
    isAddress,
    normalizeAddress,
    assetForm: 'an address',
    isAsset: isAddress,
    listTokens: () => listTokens(settings, tokens),
    listMinimums: () =>
      minimum.list(
        settings.tokens.map(({ address }) => readAddress(address) ?? address),
        engine.findTypicalCost(),
      ),
    balances: {
      read: async (named, holder) => {
        const [asset, owner] = [readAddress(named), readAddress(holder)]
        if (asset === null || owner === null) return 0n
        return await readBalance({ rpc, network: id }, { asset, owner })
      },
    },
    fees: createFees(chainId, engine),
    isTooLarge,
    vouchers,
    routers,
    getBlockStatus: engine.getBlockStatus,
  }
}

/**
 * Null where the coin is unknown: an amount of it says nothing. The fee is that of gas, without what rollups charge for
 * data.
 */
const createFees = (chainId: number, engine: Pick<TransactionEngine, 'readTypicalCost'>): Fees | null => {
  const { coin } = findChainFacts(chainId)
  if (coin === null) return null
  return {
    estimate: async () => ({
      amount: await engine.readTypicalCost(),
      symbol: coin,
      decimals: coinDecimals,
      paidBy: 'facilitator',
    }),
  }
}

/** Tokens that are not built in are described as their contracts state, once they were read. */
const listTokens = ({ chainId, tokens }: EvmNetworkSettings, registry: Pick<TokenRegistry, 'peek'>) => {
  const known = findKnownNetwork(chainId)?.tokens ?? []
  return listKnownTokens(
    tokens.flatMap(({ address, decimals }) => {
      const asset = readAddress(address)
      if (asset === null) return []
      const builtIn = known.find((token) => isSameAddress(token.address, asset))
      const read = registry.peek(asset)
      return [
        {
          asset,
          symbol: builtIn?.symbol ?? read?.symbol ?? null,
          decimals: read?.decimals ?? decimals ?? builtIn?.decimals ?? null,
        },
      ]
    }),
  )
}

export const createEvmMinimum = (
  { network, minimumPayment }: Pick<EvmNetworkSettings, 'network' | 'minimumPayment'>,
  gasShare: number,
): MinimumPayment => createMinimumPayment({ network, settings: minimumPayment, gasShare, coinDecimals })

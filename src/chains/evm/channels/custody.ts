import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Secret } from '../../../platform/secret.js'
import type { ChannelCustody, SignedRefund } from '../../../ports/channelCustody.js'
import { isSameAddress } from '../abi/address.js'
import type { RevertReason } from '../transactions/settlementCall.js'
import { type ChannelConfig, hashClaims, hashRefund, type VoucherClaim } from './contract.js'

/*
 * Channels whose receiverAuthorizer is this facilitator. Its signature could return to the payer what the receiver is owed, so
 * that it is given only for the account that the channel was bound to before its receiver relied on it.
 */

interface NamedChannel {
  readonly config: ChannelConfig
  /** The hash of the config. */
  readonly channelId: Hex
}

/** A claim's row with its channel's id. */
type NamedClaim = NamedChannel & VoucherClaim

/** Signs claims and refunds; the same address on every network. */
export interface ChannelAuthorizer {
  readonly address: Hex
  sign(digest: Hex): Promise<Hex>
}

/** Errors never contain the key. */
export const createChannelAuthorizer = (key: Secret, index: number): ChannelAuthorizer => {
  try {
    const { address, sign } = privateKeyToAccount(`0x${key.reveal().slice(2)}`)
    return { address, sign: (hash) => sign({ hash }) }
  } catch {
    throw new Error(`EVM_CHANNEL_AUTHORIZER_KEY: key ${index + 1} is not a valid secp256k1 key`)
  }
}

export interface Custody {
  /** For new channels. Null: this facilitator signs for no receiver. */
  readonly address: Hex | null
  isDelegated(config: Pick<ChannelConfig, 'receiverAuthorizer'>): boolean
  /** Why the caller may not rely on a channel; null: it is not delegated, or bound to no other account. */
  findProblem(channel: NamedChannel, caller: string | null): Promise<RevertReason | null>
  /** Binds a delegated channel to the caller. `isFunded`: the chain shows money in it. */
  bind(
    channel: NamedChannel,
    { caller, isFunded }: { readonly caller: string | null; readonly isFunded: boolean },
  ): Promise<RevertReason | null>
  /** The first delegated channel that is not bound to the caller; null: there is none. */
  findUnowned<Channel extends NamedChannel>(
    channels: readonly Channel[],
    caller: string | null,
  ): Promise<{ readonly channel: Channel; readonly index: number } | null>
  /** Of rows that are all delegated to one address and bound to the caller. Throws for others. */
  signClaims(rows: readonly NamedClaim[], caller: string | null): Promise<Hex>
  /** Of a channel that is delegated and bound to the caller, recorded before it is signed. Throws for others. */
  signRefund(
    channel: NamedChannel,
    order: { readonly nonce: bigint; readonly amount: bigint; readonly caller: string | null },
  ): Promise<Hex>
  /** The refund that was signed last; null: none, or the channel is not delegated. */
  findRefund(channel: NamedChannel): Promise<SignedRefund | null>
}

const mismatch = (message: string): RevertReason => ({
  reason: 'invalid_batch_settlement_evm_receiver_authorizer_mismatch',
  message,
})

const keyless = mismatch('extra.receiverAuthorizer: this facilitator signs for callers with an API key only')
const foreign = mismatch('extra.receiverAuthorizer: the channel is bound to another account')
const refusals = {
  claimed: mismatch('extra.receiverAuthorizer: another account has stated that the receiver is its own'),
  full: mismatch('extra.receiverAuthorizer: the payer has too many channels that hold no deposit'),
} as const

/** Callers without a key share one name, which nothing is bound to. */
const accountOf = (caller: string | null): string | null => (caller === 'anonymous' ? null : caller)

/** For processes without a store of bindings: every channel is that of another authorizer. */
export const noCustody: Custody = {
  address: null,
  isDelegated: () => false,
  findProblem: async () => null,
  bind: async () => null,
  findUnowned: async () => null,
  signClaims: () => Promise.reject(new Error('There is no key to sign claims')),
  signRefund: () => Promise.reject(new Error('There is no key to sign refunds')),
  findRefund: async () => null,
}

export const createCustody = (
  { network, chainId }: { readonly network: string; readonly chainId: number },
  authorizers: readonly ChannelAuthorizer[],
  store: ChannelCustody,
): Custody => {
  const findAuthorizer = ({ receiverAuthorizer }: Pick<ChannelConfig, 'receiverAuthorizer'>) =>
    authorizers.find(({ address }) => isSameAddress(address, receiverAuthorizer)) ?? null
  const isDelegated: Custody['isDelegated'] = (config) => findAuthorizer(config) !== null

  const findUnowned: Custody['findUnowned'] = async (channels, caller) => {
    const account = accountOf(caller)
    const delegated = [...channels.entries()].flatMap(([index, channel]) =>
      isDelegated(channel.config) ? [{ index, channel }] : [],
    )
    if (account === null || delegated.length === 0) return delegated[0] ?? null
    const accounts = await store.findAccounts(
      delegated.map(({ channel: { channelId } }) => ({ network, channelId })),
    )
    return delegated.find((_, at) => accounts[at] !== account) ?? null
  }

  const chooseAuthorizer = async (
    channels: readonly NamedChannel[],
    caller: string | null,
  ): Promise<ChannelAuthorizer> => {
    const [first] = channels
    const authorizer = first === undefined ? null : findAuthorizer(first.config)
    const isOwn = channels.every(({ config }) => findAuthorizer(config) === authorizer)
    if (authorizer === null || !isOwn || (await findUnowned(channels, caller)) !== null) {
      throw new Error('Nothing is signed for channels of others')
    }
    return authorizer
  }

  return {
    address: authorizers[0]?.address ?? null,
    isDelegated,
    findUnowned,
    findProblem: async ({ config, channelId }, caller) => {
      if (!isDelegated(config)) return null
      const account = accountOf(caller)
      if (account === null) return keyless
      const [owner = null] = await store.findAccounts([{ network, channelId }])
      return owner === null || owner === account ? null : foreign
    },
    bind: async ({ config, channelId }, { caller, isFunded }) => {
      if (!isDelegated(config)) return null
      const account = accountOf(caller)
      if (account === null) return keyless
      const channel = {
        network,
        channelId,
        account,
        payer: config.payer.toLowerCase(),
        payerAuthorizer: config.payerAuthorizer.toLowerCase(),
        receiver: config.receiver.toLowerCase(),
        receiverAuthorizer: config.receiverAuthorizer.toLowerCase(),
        token: config.token.toLowerCase(),
        withdrawDelay: config.withdrawDelay,
        salt: config.salt,
      }
      const bound = await store.bind(channel, { isFunded })
      if ('refused' in bound) return refusals[bound.refused]
      return bound.account === account ? null : foreign
    },
    signClaims: async (rows, caller) =>
      await (await chooseAuthorizer(rows, caller)).sign(hashClaims(chainId, rows)),
    signRefund: async (channel, { nonce, amount, caller }) => {
      const authorizer = await chooseAuthorizer([channel], caller)
      const { channelId } = channel
      await store.recordRefund({ network, channelId }, { nonce, amount })
      return await authorizer.sign(hashRefund(chainId, channelId, { nonce, amount }))
    },
    findRefund: async ({ config, channelId }) =>
      isDelegated(config) ? await store.findRefund({ network, channelId }) : null,
  }
}

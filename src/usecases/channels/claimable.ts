import { toChunks } from '../../concurrency/microBatcher.js'
import type { LedgerChannel } from '../../ports/channelLedger.js'
import { findClaimTotal, isSetAside } from '../../protocol/channels.js'
import type { ChannelCare } from '../../schemes/channelCare.js'

/* Which channels are claimed, and which of them together. */

export interface CaredNetwork {
  readonly network: string
  readonly care: ChannelCare
}

/** A channel and the total that a claim raises it to. */
export interface Claimable {
  readonly channel: LedgerChannel
  readonly total: bigint
  readonly gain: bigint
}

/** A withdrawal that is this far on its way is claimed against beyond the limits of its account. */
const urgentPart = 1 / 4

export const toClaimable = (channel: LedgerChannel): readonly Claimable[] => {
  const total = findClaimTotal(channel)
  const gain = total - channel.claimed
  // What refused the voucher may be gone, such as a node that was behind: a withdrawal is the last chance to try again.
  const isTried = !isSetAside(channel) || channel.withdrawRequestedAt > 0
  return gain > 0n && isTried ? [{ channel, total, gain }] : []
}

export const isWithdrawn = ({ channel }: Claimable): boolean => channel.withdrawRequestedAt > 0

export const isUrgent = ({ withdrawRequestedAt, config }: LedgerChannel, nowMs: number): boolean =>
  withdrawRequestedAt > 0 &&
  nowMs >= 1_000 * (withdrawRequestedAt + urgentPart * Number(config.withdrawDelay ?? 0))

/** A claim that is sent now is mined within this, as a rule. */
const minedWithinMs = 120_000

/** Whether its payer could execute its withdrawal before the claim is mined, which would then exceed the balance. */
const isOvertakable = ({ channel, total }: Claimable, nowMs: number): boolean => {
  const { withdrawRequestedAt, withdrawal, balance, config } = channel
  const executableAt = withdrawRequestedAt + Number(config.withdrawDelay ?? 0)
  const isSoon = withdrawRequestedAt > 0 && nowMs + minedWithinMs >= 1_000 * executableAt
  return isSoon && total + withdrawal > (balance ?? 0n)
}

export const isWorth = ({ channel, gain }: Claimable, care: ChannelCare, nowMs: number): boolean => {
  const { rules } = care
  const cost = care.findRowCost(channel.token)
  const ageMs = channel.unclaimedSince === null ? 0 : nowMs - channel.unclaimedSince.getTime()
  // Less is not worth its row, also beside others that are.
  if (channel.withdrawRequestedAt > 0 || ageMs >= rules.claimAfterMs) return gain >= (cost ?? 0n)
  // Without a price of gas nothing says what is worth it.
  if (cost === null) return false
  return gain >= cost * (care.isVoidable(channel.config) ? 4n : rules.claimWorth)
}

/**
 * One for each account, receiver and key that signs for it, the highest gain first. A payer that can void its voucher, or execute
 * its withdrawal first, could have the claim of others revert, or burn their gas: it has one of its own, behind those.
 */
export const toClaims = (
  claimables: readonly Claimable[],
  { maxRows, isVoidable }: Pick<ChannelCare, 'maxRows' | 'isVoidable'>,
  nowMs: number,
): readonly (readonly Claimable[])[] => {
  const isAlone = (claimable: Claimable) =>
    isVoidable(claimable.channel.config) || isSetAside(claimable.channel) || isOvertakable(claimable, nowMs)
  const groups = new Map<string, Claimable[]>()
  for (const each of [...claimables.filter((one) => !isAlone(one)), ...claimables.filter(isAlone)]) {
    const { accountId, receiver, channelId, config } = each.channel
    const signer = String(config.receiverAuthorizer ?? '').toLowerCase()
    const key = `${accountId} ${receiver} ${signer} ${isAlone(each) ? channelId : ''}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [each])
    else group.push(each)
  }
  const claims = [...groups.values()].flatMap((group) =>
    toChunks(
      group.sort((left, right) => (left.gain < right.gain ? 1 : -1)),
      maxRows,
    ),
  )
  return takeTurns(claims, ([first]) => first?.channel.accountId ?? '')
}

/** The first one of each account comes before the second one of any. */
export const takeTurns = <Item>(
  items: readonly Item[],
  accountOf: (item: Item) => string,
): readonly Item[] => {
  const counts = new Map<string, number>()
  const turns = items.map((item) => {
    const account = accountOf(item)
    const turn = counts.get(account) ?? 0
    counts.set(account, turn + 1)
    return { item, turn }
  })
  return turns.sort((left, right) => left.turn - right.turn).map(({ item }) => item)
}

import { type AnyMessage, type Coin, decodeMessage, moduleAddress, signerOf } from './transaction.js'

export interface Event {
  readonly type: string
  readonly attributes: readonly { readonly key: string; readonly value: string; readonly index: boolean }[]
}

/** With which a message or a whole transaction fails. */
export class AbciError extends Error {
  readonly code: number
  readonly codespace: string
  constructor(code: number, log: string, codespace = 'sdk') {
    super(log)
    this.code = code
    this.codespace = codespace
  }
}

const maxExecDepth = 4

/** Balances, the bank's messages and authz. Events as of SDK 0.50: only those of messages have `msg_index`. */
export const createBank = (prefix: string) => {
  let balances = new Map<string, bigint>()
  const blocked = new Set<string>()
  const grants = new Set<string>()
  const feeCollector = moduleAddress('fee_collector', prefix)
  const balanceOf = (account: string, denom: string): bigint => balances.get(`${account} ${denom}`) ?? 0n
  const add = (account: string, denom: string, amount: bigint) =>
    balances.set(`${account} ${denom}`, balanceOf(account, denom) + amount)

  const move = (
    from: string,
    to: string,
    coins: readonly Coin[],
    messageIndex: number | null,
  ): readonly Event[] => {
    const refused = [from, to].find((account) => blocked.has(account))
    if (refused !== undefined) {
      const log = `an address (${refused}) is blacklisted and can not send/receive tokens: unauthorized`
      throw new AbciError(7, log, 'fiat-tokenfactory')
    }
    for (const { denom, amount } of coins) {
      const balance = balanceOf(from, denom)
      if (balance < BigInt(amount)) {
        throw new AbciError(5, `spendable balance ${balance}${denom} is smaller than ${amount}${denom}`)
      }
      add(from, denom, -BigInt(amount))
      add(to, denom, BigInt(amount))
    }
    const amount = coins.map((coin) => `${coin.amount}${coin.denom}`).join()
    return [
      eventOf('coin_spent', { spender: from, amount }, messageIndex),
      eventOf('coin_received', { receiver: to, amount }, messageIndex),
      eventOf('transfer', { recipient: to, sender: from, amount }, messageIndex),
      eventOf('message', { sender: from }, messageIndex),
    ]
  }

  const execute = (encoded: AnyMessage, messageIndex: number, depth = 0): readonly Event[] => {
    const message = decodeMessage(encoded)
    switch (message.type) {
      case 'send':
        return move(message.from, message.to, message.coins, messageIndex)
      case 'multiSend': {
        const [input, ...others] = message.inputs
        if (input === undefined || others.length > 0) throw new AbciError(18, 'multiple senders not allowed')
        return message.outputs.flatMap(({ address, coins }) =>
          move(input.address, address, coins, messageIndex),
        )
      }
      case 'exec':
        return message.messages.flatMap((inner) => {
          const signer = signerOf(decodeMessage(inner))
          const isGranted = signer === message.grantee || grants.has(`${signer} ${message.grantee}`)
          if (!isGranted || depth > maxExecDepth)
            throw new AbciError(4, 'authorization not found: unauthorized')
          return execute(inner, messageIndex, depth + 1)
        })
      case 'unknown':
        throw new AbciError(6, `no handler for ${encoded.type_url}: unknown request`)
    }
  }

  const supplyOf = (denom: string): bigint =>
    [...balances].reduce((sum, [key, amount]) => (key.endsWith(` ${denom}`) ? sum + amount : sum), 0n)

  return {
    balanceOf,
    supplyOf,
    add,
    execute,
    payFee: (payer: string, coins: readonly Coin[]) => move(payer, feeCollector, coins, null),
    block: (account: string) => blocked.add(account),
    unblock: (account: string) => blocked.delete(account),
    /** The grantee may send funds of the granter. */
    grant: (granter: string, grantee: string) => grants.add(`${granter} ${grantee}`),
    /** Restores the balances that it had when this was called. */
    snapshot: () => {
      const before = new Map(balances)
      return () => {
        balances = before
      }
    },
  }
}

export const eventOf = (
  type: string,
  values: Readonly<Record<string, string>>,
  messageIndex: number | null = null,
): Event => ({
  type,
  attributes: Object.entries({
    ...values,
    ...(messageIndex === null ? {} : { msg_index: `${messageIndex}` }),
  }).map(([key, value]) => ({ key, value, index: true })),
})

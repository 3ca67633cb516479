/** What a contract's method does, as far as payments see it. */
export type Execution =
  | {
      readonly isSuccessful: true
      readonly value: string
      readonly logs: readonly string[]
      readonly promises: readonly PromiseCall[]
    }
  | { readonly isSuccessful: false; readonly error: string; readonly logs: readonly string[] }

export interface PromiseCall {
  readonly receiver: string
  readonly method: string
  readonly args: Readonly<Record<string, unknown>>
  readonly deposit?: bigint
  /** Called on this contract with the result, which becomes that of the call. */
  readonly callback?: { readonly method: string; readonly args: Readonly<Record<string, unknown>> }
  /** Its result becomes that of the call; otherwise the call does not wait for it. */
  readonly isReturned?: boolean
}

interface CallContext {
  readonly predecessor: string
  readonly deposit: bigint
  /** Only in a callback; null if the promise failed. */
  readonly promiseResult: string | null
}

export interface Contract {
  call(method: string, args: Readonly<Record<string, unknown>>, context: CallContext): Execution | null
  /** Read-only methods; JSON text. */
  view(method: string, args: Readonly<Record<string, unknown>>): string
  /** Restores the state that it had when this was called. */
  snapshot(): () => void
}

export interface TokenContract extends Contract {
  balanceOf(account: string): bigint
  /** Registers the account. */
  mint(account: string, amount: bigint): void
}

const succeed = (
  value: string,
  logs: readonly string[] = [],
  promises: readonly PromiseCall[] = [],
): Execution => ({ isSuccessful: true, value, logs, promises })

const panic = (message: string): Execution => ({
  isSuccessful: false,
  error: `Smart contract panicked: ${message}`,
  logs: [],
})

/** NEP-297 log of a NEP-141 transfer. */
export const transferLog = (data: Readonly<Record<string, unknown>>): string =>
  `EVENT_JSON:${JSON.stringify({ standard: 'nep141', version: '1.0.0', event: 'ft_transfer', data: [data] })}`

/** NEP-141 with `ft_transfer_call`, and storage registration (NEP-145). */
export const createToken = (): TokenContract => {
  let balances = new Map<string, bigint>()
  const balanceOf = (account: string) => balances.get(account) ?? 0n
  const add = (account: string, amount: bigint) => balances.set(account, balanceOf(account) + amount)

  const transfer = (args: Readonly<Record<string, unknown>>, { predecessor, deposit }: CallContext) => {
    const receiver = String(args.receiver_id)
    const amount = BigInt(String(args.amount))
    if (deposit !== 1n) return panic('Requires attached deposit of exactly 1 yoctoNEAR')
    if (receiver === predecessor) return panic('Sender and receiver should be different')
    if (amount <= 0n) return panic('The amount should be a positive number')
    if (!balances.has(receiver)) return panic(`The account ${receiver} is not registered`)
    if (balanceOf(predecessor) < amount) return panic("The account doesn't have enough balance")
    add(predecessor, -amount)
    add(receiver, amount)
    const memo = args.memo === undefined || args.memo === null ? {} : { memo: args.memo }
    const event = { old_owner_id: predecessor, new_owner_id: receiver, amount: `${amount}`, ...memo }
    return succeed('', [transferLog(event)])
  }

  const transferAndCall = (args: Readonly<Record<string, unknown>>, context: CallContext): Execution => {
    const moved = transfer(args, context)
    if (!moved.isSuccessful) return moved
    const receiver = String(args.receiver_id)
    const parties = { sender_id: context.predecessor, amount: args.amount }
    return succeed('', moved.logs, [
      {
        receiver,
        method: 'ft_on_transfer',
        args: { ...parties, msg: args.msg ?? '' },
        callback: { method: 'ft_resolve_transfer', args: { ...parties, receiver_id: receiver } },
      },
    ])
  }

  const resolveTransfer = (
    args: Readonly<Record<string, unknown>>,
    { promiseResult }: CallContext,
  ): Execution => {
    const [sender, receiver] = [String(args.sender_id), String(args.receiver_id)]
    const amount = BigInt(String(args.amount))
    const unused = promiseResult === null ? amount : BigInt(String(JSON.parse(promiseResult)))
    const refund = [amount, unused, balanceOf(receiver)].reduce((least, each) =>
      each < least ? each : least,
    )
    add(receiver, -refund)
    add(sender, refund)
    const event = { old_owner_id: receiver, new_owner_id: sender, amount: `${refund}`, memo: 'refund' }
    return succeed(JSON.stringify(`${amount - refund}`), refund > 0n ? [transferLog(event)] : [])
  }

  return {
    balanceOf,
    mint: (account, amount) => {
      add(account, amount)
    },
    snapshot: () => {
      const before = new Map(balances)
      return () => {
        balances = before
      }
    },
    call: (method, args, context) => {
      switch (method) {
        case 'ft_transfer':
          return transfer(args, context)
        case 'ft_transfer_call':
          return transferAndCall(args, context)
        case 'ft_resolve_transfer':
          return resolveTransfer(args, context)
        case 'storage_deposit':
          add(String(args.account_id ?? context.predecessor), 0n)
          return succeed('{"total":"1250000000000000000000","available":"0"}')
        default:
          return null
      }
    },
    view: (method, args) => {
      switch (method) {
        case 'ft_balance_of':
          return JSON.stringify(`${balanceOf(String(args.account_id))}`)
        case 'storage_balance_of':
          return balances.has(String(args.account_id))
            ? '{"total":"1250000000000000000000","available":"0"}'
            : 'null'
        default:
          return '{"spec":"ft-1.0.0","name":"USD Coin","symbol":"USDC","decimals":6}'
      }
    },
  }
}

/** A contract without state, by method. */
export const createContract = (
  methods: Readonly<Record<string, (args: Readonly<Record<string, unknown>>) => Execution>>,
): Contract => ({
  call: (method, args) => methods[method]?.(args) ?? null,
  view: () => 'null',
  snapshot: () => () => {},
})

/** Receives `ft_transfer_call` and returns this share of the amount as unused. */
export const createReceiver = (unused: (amount: bigint) => bigint): Contract =>
  createContract({
    ft_on_transfer: ({ amount }) => succeed(JSON.stringify(`${unused(BigInt(String(amount)))}`)),
  })

/** Pays from its own balance when it is called. `pay_detached` succeeds whatever the payment does. */
export const createPayingContract = (): Contract => {
  const pay = (args: Readonly<Record<string, unknown>>, isReturned: boolean): Execution =>
    succeed(
      '',
      [],
      [
        {
          receiver: String(args.token),
          method: 'ft_transfer',
          args: { receiver_id: args.to, amount: args.amount },
          deposit: 1n,
          isReturned,
        },
      ],
    )
  return createContract({ pay_detached: (args) => pay(args, false), pay: (args) => pay(args, true) })
}

/** Prints the given logs. */
export const createPrinter = (): Contract =>
  createContract({
    print: ({ logs }) => succeed('', Array.isArray(logs) ? logs.map(String) : []),
  })

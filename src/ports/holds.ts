/** What one authorization holds of the payer's funds until it is settled. */
export interface FundsHold {
  readonly authorizationId: string
  readonly network: string
  /** Asset, payer, spender and recipient in one spelling: they are compared as text. */
  readonly asset: string
  readonly payer: string
  readonly spender: string
  readonly payTo: string
  /** Account id, or `anonymous`. A live hold of an account is refused to every other caller. */
  readonly account: string
  /**
   * `verify`, `settle` or `stream:<id>`. Among requests of one account, or of callers without one, a stream keeps what it
   * holds from settlements and verifications, and a settlement from streams; a verification yields to both.
   */
  readonly purpose: string
  /** Smallest units. */
  readonly amount: bigint
  /** When it ends by itself. */
  readonly expiresAt: Date
  /**
   * Whether its settlement is promised to the account: for an hour, or while a stream holds it. Absent: no. A renewal keeps
   * an earlier promise, and its end.
   */
  readonly isPromised?: boolean
  /** Whose promises it counts among. Default: the account. */
  readonly promisee?: Promisee
}

/** Whom settlements are promised to. */
export interface Promisee {
  /** Whose part of a budget they use: the customer, the address of customers that are not proven, or `anonymous`. */
  readonly part: string
  readonly customer: string
}

export interface PromisedCount extends Promisee {
  readonly count: number
}

export interface Funds {
  /** The payer has it in the asset; null: no sum over all spenders limits. */
  readonly balance: bigint | null
  /** What the spender may take; null: not limited beside the balance. */
  readonly allowance: bigint | null
}

/** Names what one request wrote. */
interface HoldReceipt {
  readonly authorizationId: string
  readonly heldAt: string
}

/**
 * `heldByOthers`: sum of the payer's other live holds; beside `allowance`, those of the same spender. For an account, holds
 * of anonymous callers count only while they are settled, and for a minute while their claim may follow.
 */
export type HoldResult =
  | {
      readonly state: 'held'
      readonly receipt: HoldReceipt
      readonly isPromised?: true
      /** The promisee that the first hold named. */
      readonly promisee?: Promisee
      readonly isNewPromise?: true
      /** When it was held, no settlement of the authorization was open, successful or consumed: a claim sees the hold. */
      readonly isUnclaimed?: true
    }
  | { readonly state: 'exceeds'; readonly limit: 'balance' | 'allowance'; readonly heldByOthers: bigint }
  /** The authorization has a live hold that does not yield, or another caller is settling it. */
  | { readonly state: 'taken'; readonly by: TakenBy }
  /** The payer has as many live holds in the asset as are allowed. */
  | { readonly state: 'too_many' }

export type HoldObstacle = Exclude<HoldResult, { readonly state: 'held' }>

/** What keeps an authorization from a caller: one nonce pays one recipient, in one asset, for one account. */
export type TakenBy = 'account' | 'recipient' | 'asset' | 'stream' | 'settlement'

type HeldPayment = Pick<FundsHold, 'authorizationId' | 'account' | 'asset' | 'payTo' | 'amount'>

export type AskingForAuthorization = Pick<
  FundsHold,
  'authorizationId' | 'account' | 'purpose' | 'asset' | 'payTo'
>

/**
 * Holds on funds between verify and settle. A hold is live while its authorization is being settled; or until it expires, if
 * its authorization was neither settled nor, unless a stream holds it, failed since it was placed. A settlement of an account
 * that was abandoned before anything was sent does not count as failed. Live holds of one payer in one asset are decided one
 * after the other, across instances.
 */
export interface Holds {
  /**
   * Holds the amount if it fits beside the live holds of other authorizations. A live hold of the same account,
   * authorization and at least the amount is renewed without a check: what was held stays held, at least as much and as
   * long as before. A hold of an anonymous caller is replaced by that of an account.
   */
  place(hold: FundsHold, funds: Funds): Promise<HoldResult>
  /** Why `place` would hold nothing at the moment; null if it would. Holds nothing itself. */
  findObstacle(hold: FundsHold, funds: Funds): Promise<HoldObstacle | null>
  /** By promisee: live holds of a network that are promised, and whose settlement is not sent yet. */
  countPromised(network: string): Promise<readonly PromisedCount[]>
  /** False where a settlement of the authorization is promised to the account already, is open or was successful. */
  needsPromise(asking: Pick<FundsHold, 'authorizationId' | 'account'>): Promise<boolean>
  /** What keeps an authorization from a caller that would hold nothing. */
  findTaker(asking: AskingForAuthorization): Promise<TakenBy | null>
  /**
   * Whether the account has a live hold of the authorization, for the recipient, of at least the amount. Holds of
   * anonymous callers count only if asked for: anyone who saw the signature can have made them.
   */
  covers(held: HeldPayment & { readonly countsAnonymous?: boolean }): Promise<boolean>
  /** Ends the hold, if it still has this purpose. */
  release(hold: Pick<FundsHold, 'authorizationId' | 'purpose'>): Promise<void>
  /**
   * Undoes a hold for a settlement that no claim followed. What was verified, before or since, stays as the verification
   * held it. Another settlement that held the same keeps it until it is claimed or undone, and for a minute at most; so does
   * one that is open, or was abandoned.
   */
  releaseUnclaimed(receipt: HoldReceipt): Promise<void>
  /**
   * Deletes what has expired and is not being settled, and, ten minutes after it was placed, what is held for a stream
   * that is not open.
   */
  purge(stopped?: AbortSignal): Promise<void>
}

import { type Accounts, freeBandwidth, prices } from './accounts.js'
import type { TronBlock } from './block.js'
import { toBase58 } from './keys.js'
import { type DecodedTransaction, listSigners, readNumber, readText } from './transaction.js'

export interface Refusal {
  readonly code: string
  readonly message: string
}

interface ChainView {
  readonly accounts: Accounts
  readonly head: TronBlock
  /** Newest block whose number ends in these two bytes. */
  findReference(refBlockBytes: string): TronBlock | null
  /** Pending or in a block. */
  knows(id: string): boolean
}

const dayMs = 86_400_000

/** The signatures must satisfy the owner permission. */
const judgeSignatures = (transaction: DecodedTransaction, accounts: Accounts): Refusal | null => {
  const refuse = (text: string): Refusal => ({
    code: 'SIGERROR',
    message: `Validate signature error: ${text}`,
  })
  const owner = accounts.get(readText(transaction.fields, 'owner_address'))
  if (owner === undefined) return refuse('account does not exist')
  if (transaction.signatures.length === 0) return refuse('miss sig or contract')
  const signers = new Set(listSigners(transaction))
  if (signers.size < transaction.signatures.length) return refuse('has signed twice!')
  let weight = 0
  for (const signer of signers) {
    const key = owner.owner.keys.find(({ address }) => address === signer)
    if (key === undefined) {
      const who = signer === null ? 'an unknown key' : toBase58(signer)
      return refuse(`is signed by ${who} but it is not contained of permission.`)
    }
    weight += key.weight
  }
  return weight >= owner.owner.threshold ? null : refuse('sig error')
}

const judgeContract = ({ type, fields }: DecodedTransaction, accounts: Accounts): Refusal | null => {
  const refuse = (text: string): Refusal => ({
    code: 'CONTRACT_VALIDATE_ERROR',
    message: `Contract validate error : ${text}`,
  })
  const owner = accounts.get(readText(fields, 'owner_address'))
  if (owner === undefined) return refuse('account does not exist')
  switch (type) {
    case 'TransferContract':
      return owner.balance < readNumber(fields, 'amount') ? refuse('balance is not sufficient.') : null
    case 'DelegateResourceContract': {
      const amount = readNumber(fields, 'balance')
      const receiver = readText(fields, 'receiver_address')
      if (amount < 1_000_000) return refuse('delegateBalance must be greater than or equal to 1 TRX')
      if (!accounts.has(receiver)) return refuse('receiver account does not exist')
      return owner.staked < amount
        ? refuse('delegateBalance must be less than or equal to available FreezeEnergyV2 balance')
        : null
    }
    case 'UnDelegateResourceContract': {
      const delegated =
        accounts.get(readText(fields, 'receiver_address'))?.delegatedFrom.get(owner.address) ?? 0
      return delegated < readNumber(fields, 'balance')
        ? refuse('insufficient delegatedFrozenBalance(ENERGY)')
        : null
    }
    default:
      return null
  }
}

/** Null if the node accepts the transaction. */
export const judgeAdmission = (transaction: DecodedTransaction, view: ChainView): Refusal | null => {
  if (transaction.contractCount !== 1) return { code: 'OTHER_ERROR', message: 'act size should be exactly 1' }
  if (view.knows(transaction.id)) return { code: 'DUP_TRANSACTION_ERROR', message: 'Dup transaction.' }
  const reference = view.findReference(transaction.refBlockBytes)
  if (reference === null || reference.id.slice(16, 32) !== transaction.refBlockHash) {
    return { code: 'TAPOS_ERROR', message: 'Tapos check error.' }
  }
  const { timestamp } = view.head
  if (transaction.expiration <= timestamp || transaction.expiration > timestamp + dayMs) {
    return {
      code: 'TRANSACTION_EXPIRATION_ERROR',
      message: `Transaction expiration, expiration is ${transaction.expiration}, but headBlockTime is ${timestamp}`,
    }
  }
  const unsigned = judgeSignatures(transaction, view.accounts)
  if (unsigned !== null) return unsigned
  const owner = view.accounts.get(readText(transaction.fields, 'owner_address'))
  const isFree = owner !== undefined && owner.bandwidthUsed + transaction.size <= freeBandwidth
  if (!isFree && (owner?.balance ?? 0) < transaction.size * prices.bandwidth) {
    return { code: 'BANDWITH_ERROR', message: 'Account resource insufficient error.' }
  }
  return judgeContract(transaction, view.accounts)
}

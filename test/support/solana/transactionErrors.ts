import {
  type FailedTransactionMetadata,
  InstructionErrorCustom,
  TransactionErrorInstructionError,
  TransactionErrorInsufficientFundsForRent,
} from 'litesvm/dist/internal.js'

/** In JSON-RPC form: a name, or an object with one key. */
export type TransactionError = string | Readonly<Record<string, unknown>>

/** LiteSVM returns numbers at run time, in this order. */
const transactionErrorNames =
  'AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee InvalidAccountForFee AlreadyProcessed BlockhashNotFound CallChainTooDeep MissingSignatureForFee InvalidAccountIndex SignatureFailure InvalidProgramForExecution SanitizeFailure ClusterMaintenance AccountBorrowOutstanding WouldExceedMaxBlockCostLimit UnsupportedVersion InvalidWritableAccount WouldExceedMaxAccountCostLimit WouldExceedAccountDataBlockLimit TooManyAccountLocks AddressLookupTableNotFound InvalidAddressLookupTableOwner InvalidAddressLookupTableData InvalidAddressLookupTableIndex InvalidRentPayingAccount'.split(
    ' ',
  )

const instructionErrorNames =
  'GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall InsufficientFunds IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized UninitializedAccount UnbalancedInstruction ModifiedProgramId ExternalAccountLamportSpend ExternalAccountDataModified ReadonlyLamportChange ReadonlyDataModified DuplicateAccountIndex ExecutableModified RentEpochModified NotEnoughAccountKeys AccountDataSizeChanged AccountNotExecutable AccountBorrowFailed AccountBorrowOutstanding DuplicateAccountOutOfSync InvalidError ExecutableDataModified ExecutableLamportChange ExecutableAccountNotRentExempt UnsupportedProgramId CallDepth MissingAccount ReentrancyNotAllowed MaxSeedLengthExceeded InvalidSeeds InvalidRealloc ComputationalBudgetExceeded PrivilegeEscalation ProgramEnvironmentSetupFailure ProgramFailedToComplete ProgramFailedToCompile Immutable IncorrectAuthority AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow UnsupportedSysvar IllegalOwner'.split(
    ' ',
  )

export const readTransactionError = (failed: FailedTransactionMetadata): TransactionError => {
  const error: unknown = failed.err()
  if (typeof error === 'number') return transactionErrorNames[error] ?? `Unknown${error}`
  if (error instanceof TransactionErrorInstructionError) {
    const inner: unknown = error.err()
    const detail =
      inner instanceof InstructionErrorCustom
        ? { Custom: inner.code }
        : (instructionErrorNames[Number(inner)] ?? `Unknown${String(inner)}`)
    return { InstructionError: [error.index, detail] }
  }
  if (error instanceof TransactionErrorInsufficientFundsForRent) {
    return { InsufficientFundsForRent: { account_index: error.accountIndex } }
  }
  return { Unknown: String(error) }
}

/** Only these errors are included in a block and charged; transactions with others never land. */
export const landsDespite = (error: TransactionError): boolean =>
  typeof error !== 'string' && ('InstructionError' in error || 'InsufficientFundsForRent' in error)

/** Error message of a node's preflight. */
export const describeTransactionError = (error: TransactionError): string => {
  if (error === 'AlreadyProcessed') return 'This transaction has already been processed'
  if (error === 'BlockhashNotFound') return 'Blockhash not found'
  if (typeof error === 'string') return error
  const [index, detail] = Array.isArray(error.InstructionError) ? error.InstructionError : [0, error]
  return `Error processing Instruction ${index}: ${JSON.stringify(detail)}`
}

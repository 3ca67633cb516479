import { concatHex, encodeFunctionData, type Hex, numberToHex, parseAbi, size, zeroHash } from 'viem'
import type { Requester } from '../../../ports/rateLimiter.js'
import type { ContractReader } from '../../chain.js'
import { isCounterfactual, readCounterfactual } from '../signatures/signature.js'

interface ContractSignature {
  readonly address: Hex
  readonly signature: Hex
  readonly digests: readonly Hex[]
  readonly requester: Requester
}

/** All digests together take no more, with the creation of the wallet. */
const checkGas = 3_000_000n

/**
 * Whether a wallet contract accepts the signature of one of the digests. A factory of the signer's choice is called
 * only within `eth_call`, by a contract that exists nowhere: never by a transaction, never from an account of ours.
 */
export const isSignedByContract = async (
  reader: ContractReader,
  { address, signature, digests, requester }: ContractSignature,
): Promise<'eip1271' | 'eip6492' | null> => {
  const wrapped = isCounterfactual(signature) ? readCounterfactual(signature) : null
  if (wrapped === null && isCounterfactual(signature)) return null
  const data = encodeWalletCheck({
    address,
    digests,
    signature: wrapped?.bytes ?? signature,
    factory: wrapped === null ? null : { address: wrapped.factory, data: wrapped.factoryData },
  })
  const findUnusedGas = (result: Hex | null) => readWalletCheck(result).unusedGas
  const result = await reader.run({ code: data, gas: checkGas, findUnusedGas }, requester)
  if (!readWalletCheck(result).isAccepted) return null
  return wrapped === null ? 'eip1271' : 'eip6492'
}

interface WalletCheck {
  readonly address: Hex
  /** At most 255. */
  readonly digests: readonly Hex[]
  /** Without the wrapper of ERC-6492. */
  readonly signature: Hex
  /** Creates or prepares the wallet; null: the wallet is asked as it is. */
  readonly factory: { readonly address: Hex; readonly data: Hex } | null
}

const walletAbi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])

// The selector of isValidSignature, in a word.
const accepted: Hex = `0x1626ba7e${'0'.repeat(56)}`

/*
 * The program has no loop: it is written for one check. Memory: the wallet's answer at 0, what is sent at 32. A digest is
 * the first argument, after the selector.
 */
const sentAt = 32
const digestAt = sentAt + 4

const op = {
  div: '04',
  lt: '10',
  eq: '14',
  isZero: '15',
  and: '16',
  shl: '1b',
  codeCopy: '39',
  extCodeSize: '3b',
  returnDataSize: '3d',
  pop: '50',
  mload: '51',
  mstore: '52',
  mstore8: '53',
  jump: '56',
  jumpIf: '57',
  gas: '5a',
  jumpTarget: '5b',
  dup1: '80',
  call: 'f1',
  return: 'f3',
  staticCall: 'fa',
} as const

/**
 * Creation code for one `eth_call` without sender or effect, as the universal validator of ERC-6492: asks the wallet about
 * each digest, with equal parts of the gas. With a factory, it is called first if the wallet has no code, and afterwards if
 * the deployed wallet accepts none. `readWalletCheck` reads the result.
 */
const encodeWalletCheck = ({ address, digests, signature, factory }: WalletCheck): Hex => {
  const question = encodeFunctionData({ abi: walletAbi, args: [zeroHash, signature] })
  const creation = factory?.data ?? '0x'
  const write = (labels: Labels): Program =>
    factory === null
      ? writeProgram(labels, (program) => askAbout(program, { address, digests, labels, reserve: 0 }))
      : writeProgram(labels, (program) => {
          const round = { address, digests, labels, reserve: 1 }
          program.push(word(address), op.extCodeSize, op.dup1, label(labels.created), op.jumpIf)
          callFactory(program, factory, labels)
          labels.next.created = mark(program)
          askAbout(program, round)
          program.push(op.isZero, label(labels.refused), op.jumpIf)
          callFactory(program, factory, labels)
          askAbout(program, { ...round, reserve: 0 })
        })
  // Labels have a fixed width, so that their first values only have to be replaced.
  const draft: Labels = emptyLabels(size(question), size(creation))
  write(draft)
  const labels: Labels = { ...draft, ...draft.next, next: { ...draft.next } }
  const program = write(labels)
  return concatHex([`0x${program.join('')}`, question, creation])
}

/** Null for a call that failed. */
const readWalletCheck = (result: Hex | null): { readonly isAccepted: boolean; readonly unusedGas: bigint } =>
  result === null || size(result) !== resultBytes
    ? { isAccepted: false, unusedGas: 0n }
    : { isAccepted: result.startsWith('0x01'), unusedGas: BigInt(`0x${result.slice(4)}`) }

const resultBytes = 5

type Program = string[]

/** Offsets in the program, and of what follows it; `next` collects what a pass has found. */
interface Labels extends Offsets {
  readonly questionBytes: number
  readonly creationBytes: number
  readonly next: { -readonly [Name in keyof Offsets]: number }
}

interface Offsets {
  readonly created: number
  readonly refused: number
  readonly accepted: number
  readonly end: number
  readonly question: number
  readonly creation: number
}

const emptyLabels = (questionBytes: number, creationBytes: number): Labels => {
  const offsets = { created: 0, refused: 0, accepted: 0, end: 0, question: 0, creation: 0 }
  return { ...offsets, questionBytes, creationBytes, next: { ...offsets } }
}

const writeProgram = (labels: Labels, ask: (program: Program) => void): Program => {
  const program: Program = []
  ask(program)
  labels.next.refused = mark(program)
  program.push(byte(0), label(labels.end), op.jump)
  labels.next.accepted = mark(program)
  program.push(byte(1))
  labels.next.end = mark(program)
  // The verdict in one byte, the gas that is left in four: code that is returned costs 200 gas per byte.
  program.push(byte(0), op.mstore8, op.gas, byte(224), op.shl, byte(1), op.mstore)
  program.push(byte(resultBytes), byte(0), op.return)
  labels.next.question = lengthOf(program)
  labels.next.creation = labels.next.question + labels.questionBytes
  return program
}

const callFactory = (
  program: Program,
  { address }: NonNullable<WalletCheck['factory']>,
  { creation, creationBytes }: Labels,
): void => {
  copyCode(program, creation, creationBytes)
  program.push(byte(0), byte(0), label(creationBytes), byte(sentAt), byte(0), word(address))
  program.push(byte(2), op.gas, op.div, op.call, op.pop)
}

/** Jumps to `accepted` if the wallet accepts one; `reserve` parts of the gas are kept. */
const askAbout = (
  program: Program,
  {
    address,
    digests,
    labels,
    reserve,
  }: Pick<WalletCheck, 'address' | 'digests'> & { readonly labels: Labels; readonly reserve: number },
): void => {
  copyCode(program, labels.question, labels.questionBytes)
  for (const [index, digest] of digests.entries()) {
    program.push(word(digest), byte(digestAt), op.mstore, byte(0), byte(0), op.mstore)
    program.push(byte(32), byte(0), label(labels.questionBytes), byte(sentAt), word(address))
    program.push(byte(digests.length - index + reserve), op.gas, op.div, op.staticCall)
    program.push(op.returnDataSize, byte(31), op.lt, op.and)
    program.push(word(accepted), byte(0), op.mload, op.eq, op.and, label(labels.accepted), op.jumpIf)
  }
}

const copyCode = (program: Program, from: number, bytes: number): void => {
  program.push(label(bytes), label(from), byte(sentAt), op.codeCopy)
}

const mark = (program: Program): number => {
  const at = lengthOf(program)
  program.push(op.jumpTarget)
  return at
}

const lengthOf = (program: Program): number => program.reduce((sum, { length }) => sum + length / 2, 0)

// PUSH1, PUSH4, and PUSH20 or PUSH32 by the length of the value.
const byte = (value: number): string => `60${numberToHex(value, { size: 1 }).slice(2)}`
const label = (value: number): string => `63${numberToHex(value, { size: 4 }).slice(2)}`
const word = (value: Hex): string => `${(0x5f + size(value)).toString(16)}${value.slice(2).toLowerCase()}`

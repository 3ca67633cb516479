import { decodeErrorResult, type Hex, parseAbi } from 'viem'
import type { CallFailure } from '../rpc/rpc.js'

const standardErrors = parseAbi(['error Error(string message)', 'error Panic(uint256 code)'])

/** Taken from the revert data, else from the node's message, as one short line. */
export const readRevertText = ({ data, message }: CallFailure): string => {
  const text = (data === null ? null : decodeRevertData(data)) ?? message
  // Untrusted text of a contract or a node: printable, short, without URLs.
  return text
    .replace(/[^\x20-\x7e]/g, ' ')
    .replace(/https?:\/\/\S+/g, '')
    .slice(0, 160)
    .trim()
}

const decodeRevertData = (data: Hex): string | null => {
  try {
    const { errorName, args } = decodeErrorResult({ abi: standardErrors, data })
    return errorName === 'Error' ? String(args[0]) : `panic ${args[0]}`
  } catch {
    return null
  }
}

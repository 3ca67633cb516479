import { concatHex, type Hex } from 'viem'
import { z } from 'zod'
import { RpcError, readRateLimit } from '../../nodes/endpoint.js'
import type { createReader } from '../../nodes/reader.js'

/*
 * Creation code that is run by `eth_call` and deployed nowhere. Addresses of 20 bytes follow it; it returns the byte 1 (code
 * may not begin with 0xef, EIP-3541), and a byte for each address: whether its code has a size. An account that
 * delegates (EIP-7702) has the 23 bytes of its delegation. No code of the accounts is run.
 *
 *   codesize 0 0 codecopy · mstore8(0, 1) · result = 1 · address = 32
 *   loop: mstore8(result, extcodesize(mload(address)) != 0) · address += 20 · result += 1
 *         if codesize > address + 12 goto loop
 *   return(0, result)
 *
 * A word is read 12 bytes before the address that it ends with, and the results overwrite what was read before.
 */
const program = '0x3860006000396001600053600160205b80513b151582536014019060010190600c81013811600f57506000f3'

// More would take more gas than some nodes allow a call.
const maxAccounts = 500

// For so long the endpoints are asked for each code instead where one refuses the program, or does not answer it.
const refusedMs = 60_000

/** As `findWithCode` of `Rpc`. */
export const createFindWithCode = (
  ask: ReturnType<typeof createReader>,
  getCode: (address: Hex) => Promise<Hex>,
  now: () => number = () => performance.now(),
): ((accounts: readonly Hex[]) => Promise<ReadonlySet<Hex>>) => {
  let refusedAtMs = Number.NEGATIVE_INFINITY

  /** Null where the endpoint refuses it: some take no call without a recipient, or only smaller ones. */
  const runProgram = async (accounts: readonly Hex[]): Promise<unknown> => {
    const params = [{ data: concatHex([program, ...accounts]) }, 'latest']
    try {
      return await ask('eth_call', params, z.unknown(), {
        isVerdict: (error) => readRateLimit(error) === null,
      })
    } catch (error) {
      if (error instanceof RpcError) return null
      // A gateway that refuses it without an answer of a node would fail each question.
      refusedAtMs = now()
      throw error
    }
  }

  return async (accounts) => {
    const mayRun = accounts.length > 1 && accounts.length <= maxAccounts
    if (mayRun && now() - refusedAtMs >= refusedMs) {
      const flags = readFlags(await runProgram(accounts), accounts.length)
      if (flags !== null) return new Set(accounts.filter((_, index) => flags[index] === '01'))
      refusedAtMs = now()
    }
    const codes = await Promise.all(accounts.map(getCode))
    return new Set(accounts.filter((_, index) => codes[index] !== '0x'))
  }
}

/** Two digits for each account; null for anything but an answer of the program. */
const readFlags = (answer: unknown, count: number): readonly string[] | null => {
  const digits = typeof answer === 'string' ? /^0x01((?:0[01])*)$/.exec(answer)?.[1] : undefined
  const flags = digits?.match(/../g) ?? []
  return flags.length === count ? flags : null
}

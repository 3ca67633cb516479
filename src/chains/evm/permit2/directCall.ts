import { type Abi, toFunctionSelector } from 'viem'

// The words of an EIP-2612 permit before the arguments of `settle`, in characters.
const skippedCharacters: Readonly<Record<string, number>> = { settle: 0, settleWithPermit: 5 * 64 }

/** Whether calldata, in lower case, calls a proxy with these words: one that succeeds executed the permit. */
export const isDirectCall = (proxyAbi: Abi, calldata: string, words: string): boolean =>
  proxyAbi.some((item) => {
    const skipped = item.type === 'function' ? skippedCharacters[item.name] : undefined
    if (item.type !== 'function' || skipped === undefined) return false
    const selector = toFunctionSelector(item)
    return calldata.startsWith(selector) && calldata.startsWith(words, selector.length + skipped)
  })

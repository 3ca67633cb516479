import { type Difference, differenceKinds, type KindCount } from '../../protocol/reconciliation.js'

/** One count for each kind that occurs, in the order of the kinds. */
export const mergeCounts = (
  counts: readonly KindCount[],
  combine: (left: number, right: number) => number = (left, right) => left + right,
): readonly KindCount[] =>
  differenceKinds.flatMap((kind) => {
    const own = counts.filter((each) => each.kind === kind).map(({ count }) => count)
    return own.length === 0 ? [] : [{ kind, count: own.reduce((left, right) => combine(left, right)) }]
  })

export const countKinds = (differences: readonly Difference[]): readonly KindCount[] =>
  mergeCounts(differences.map(({ kind }) => ({ kind, count: 1 })))

/** Points that each part of a credit score can give; together 1,000. The console reads them without a schema. */
export const creditWeights = { volume: 300, frequency: 250, reliability: 300, age: 150 } as const

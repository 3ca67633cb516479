// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @notice A contract wallet that accepts or refuses every signature, depending on its mood.
contract MoodyWallet {
    enum Mood {
        AcceptsAll,
        RefusesAll,
        AcceptsInSimulation, // refuses when gas is paid for, that is in every mined transaction
        BurnsGas, // accepts, after using up most of the gas that it is given
        ReturnsMuch // accepts, in an answer of 150,000 bytes
    }

    Mood public mood;

    constructor(Mood first) {
        mood = first;
    }

    function setMood(Mood next) external {
        mood = next;
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        if (mood == Mood.RefusesAll) return 0xffffffff;
        if (mood == Mood.AcceptsInSimulation && tx.gasprice > 0) return 0xffffffff;
        if (mood == Mood.BurnsGas) {
            uint256 start = gasleft();
            while (gasleft() > start / 8) {}
        }
        if (mood == Mood.ReturnsMuch) {
            bytes4 accepted = this.isValidSignature.selector;
            assembly {
                mstore(0, accepted)
                return(0, 150000)
            }
        }
        return this.isValidSignature.selector;
    }
}

"""What is known of the differences from the paper of 2016, cell by cell."""

from __future__ import annotations

# Verdicts that are possible on the authors' own data. EXACT: cells without randomness.
EXACT_5 = {
    (row, "german")
    for row in ["Perceptron", "OGD", "Forgetron", "Projectron", "Projectron++", "BPA", "NOGD"]
}
EXACT_7 = {(row, "dna") for row in ["Perceptron", "OGD", "BPA", "BOGD", "NOGD"]}
EXACT_9 = {
    (row, "housing")
    for row in ["OGD", "Perceptron", "NORMA", "Forgetron", "Projectron", "BOGD", "NOGD"]
}
MATCH_5 = {(row, "german") for row in ["RBP", "BOGD", "FOGD"]}
MATCH_7 = {(row, "dna") for row in ["RBP", "Forgetron", "Projectron", "Projectron++", "FOGD"]}
MATCH_9 = {(row, "housing") for row in ["RBP", "FOGD"]}

# What is known of differences.
WRONG_ROOT = (
    "the authors' released code takes the wrong root in the shrinking step and gives the printed figure; "
    "this is the paper's rule"
)
DUPLICATES = "the authors' projection has no guard against examples that are stored already"
DECAY = "its step and decay on this set are not reported; of .1, .2, .3, .4 this step is nearest"
OTHER_COPY = "this copy of the set gives most rows one to three per cent more than the paper's"
ORDERS = (
    "the orders of the paper are not published; its deviation over 20 orders is smaller than ours"
)
SCALING = (
    "the paper's scaling of usps is not known; of 49 tries in one order (sigma from 2 to 16, features as published, in "
    "[0, 1], standardised, of length 1, B = 100 and 200) none brings all rows within 17 % of the printed figures"
)
STEP_OF_SPAMBASE = "its step on this set is not reported: of the paper's list 2, .2 and .02 give 21.3, 23.7 and 24.7 % (5 orders)"
RANK_OF_SPAMBASE = (
    "with the rank 50 instead of 20, which is right on the other sets, 29.0 % (5 orders); no step of the paper's list "
    "comes nearer than .2 does"
)
OTHER_ORDERS = (
    "the authors' orders of this set are not at hand; in ours the deviation is larger than theirs"
)
FEWER_PAGES = "the error falls along the stream, which is shorter here; over the half of these pages that w7a has it is larger yet"
PROJECTION = (
    "tried: without the guard against stored examples (13.65), budgets from 20 to 400 (13.1 in all), sigma = 4 and 16 "
    "(8.9 and 20.7); no reason found"
)
POKER = "other hands: the 25,010 of the training file"
KDD = (
    "another file: a tenth of the data in our encoding (118 features, raw); the paper does not say how it got "
    "1,131,571 rows with 127 features; scaled to [0, 1] the Perceptron has 1.6 % over the first 100,000"
)
NOTES = {
    ("Forgetron", "a9a"): WRONG_ROOT,
    ("Forgetron", "ijcnn1"): WRONG_ROOT,
    ("Forgetron", "mnist"): WRONG_ROOT,
    ("Forgetron", "satimage"): WRONG_ROOT,
    ("Projectron", "w7a"): DUPLICATES,
    ("Projectron++", "w7a"): DUPLICATES,
    ("Projectron", "dna"): DUPLICATES,
    ("Projectron++", "dna"): DUPLICATES,
    ("Projectron++", "shuttle"): PROJECTION,
    ("Projectron", "mnist"): ORDERS,
    ("OGD", "mnist"): ORDERS,
    ("BOGD", "cpusmall"): DECAY,
    ("BOGD", "abalone"): DECAY,
    ("BOGD", "casp"): DECAY,
    ("RBP", "cpusmall"): OTHER_COPY,
    ("Forgetron", "cpusmall"): OTHER_COPY,
    ("NORMA", "cpusmall"): OTHER_COPY,
    ("NORMA", "abalone"): OTHER_COPY,
    ("NORMA", "cadata"): OTHER_COPY,
    **{(row, "a9a"): ORDERS for row in ("Perceptron", "OGD", "BPA")},
    ("Perceptron", "ijcnn1"): ORDERS,
    ("Perceptron", "spambase"): OTHER_ORDERS,
    ("RBP", "spambase"): OTHER_ORDERS,
    **{(row, "w8a"): FEWER_PAGES for row in ("Perceptron", "OGD", "FOGD")},
    ("Projectron", "w8a"): DUPLICATES,
    ("Projectron++", "w8a"): DUPLICATES,
    ("OGD", "spambase"): STEP_OF_SPAMBASE,
    ("NOGD", "spambase"): RANK_OF_SPAMBASE,
    ("BPA", "codrna"): ORDERS,
}
ALL_ROWS: tuple[str, ...] = ("Perceptron", "OGD", "RBP", "Forgetron", "Projectron", "Projectron++")
ALL_ROWS += ("BPA", "BOGD", "FOGD", "NOGD")
NOTES |= {(row, "usps"): SCALING for row in ALL_ROWS}
NOTES |= {(row, "poker"): POKER for row in ALL_ROWS}
NOTES |= {(row, "kddcup99"): KDD for row in ALL_ROWS}

# What is always said: of a dataset, or of a cell.
REMARKS: dict[str | tuple[str, str], str] = {
    "poker": "the 25,010 hands of the training file; the paper has a million",
    "kddcup99-10pct": "the file with a tenth of the data, 494,021 rows; the paper has 1,131,571",
    "w8a-train": "the training file w8a, 49,749 rows; the paper has 64,700, with w8a.t",
    ("FOGD", "dna"): "step .02",
    ("FOGD", "satimage"): "step .02",
    ("FOGD", "usps"): "step .02",
    ("FOGD", "mnist"): "step .001",
    ("FOGD", "shuttle"): "step .2",
    ("BOGD", "cadata"): "step .3",
}

# Why there is no figure in table 3.
UNSEEN_BATCH = {
    "kddcup08": "kddcup08 is published to registered users only",
    "kddcup99": "the file of 1,131,571 rows is not at hand, and accuracies of 99.99 % mean nothing on another",
}

# What stands under each table.
TABLE_NOTES = {
    3: (
        "The paper chose its parameters by a cross-validation that it does not report. Ours were chosen by "
        "holding out a fifth of the training file, over widths and penalties or steps. FOGD and NOGD predict by "
        "the mean of their iterates, as the authors' program does at test time. Times are those of learning, as "
        "multiples of LIBSVM's."
    ),
    5: (
        "Width, budget, steps and decays are those of the paper and of its authors' programs (sigma = 8, B = 100, "
        "a step of .2, which is in the paper's list)."
    ),
    7: (
        "`fitted` is: FOGD's step on dna, satimage, usps (.02) and shuttle (.2), the one of the paper's list 2, .2, "
        ".02, .002, .0002 that comes nearest to the printed figure; on mnist .001, between two of the list; and "
        "B = 200 on mnist, where the text of the paper means 100. FOGD is not at its best in this table: on dna a "
        "step of .002 gives 17.9 % and on poker .0002 gives 46.4 %."
    ),
    9: (
        "`fitted` is: B = 20 for RBP, Forgetron, Projectron and BOGD, as with the 30 that the paper states none of "
        "the rows without randomness comes out, and with 20 all do, to five digits; and the step of OGD, NOGD and "
        "BOGD on all sets but housing and mg, whose steps are in the authors' files."
    ),
}

"""The printed figures of the paper of 2016: mean and standard deviation of every cell, and notes on differences."""

from __future__ import annotations

from ..verdicts import Printed

TABLE_5 = """
             german    spambase  w7a        w8a        a9a       ijcnn1      codrna    kddcup08   kddcup99
Perceptron   35.2 0.9  24.5 0.1  4.01 0.10  3.47 0.01  20.9 0.1  12.27 0.01  14.0 0.1  0.90 0.01  0.02 0.00
OGD          29.5 0.5  22.0 0.1  2.96 0.10  2.81 0.01  16.3 0.1  9.52 0.01   9.7 0.1   0.52 0.01  0.01 0.00
RBP          37.5 1.1  33.3 0.4  5.07 0.13  5.10 0.08  27.1 0.2  16.40 0.10  20.3 0.1  1.06 0.03  0.02 0.00
Forgetron    38.1 0.9  34.6 0.5  5.28 0.06  5.28 0.07  27.8 0.4  16.99 0.32  19.9 0.1  1.07 0.03  0.03 0.00
Projectron   35.6 1.5  30.8 1.2  5.38 1.15  5.42 1.10  21.6 1.9  12.38 0.09  15.8 0.5  0.94 0.02  0.02 0.00
Projectron++ 35.1 1.1  30.4 1.0  4.79 1.87  5.41 3.30  18.6 0.5  9.52 0.03   13.6 1.2  0.84 0.03  0.01 0.00
BPA          33.9 0.9  30.8 0.8  2.99 0.06  2.84 0.03  21.1 0.2  11.33 0.04  15.4 0.3  0.62 0.01  0.01 0.00
BOGD         31.6 1.5  32.2 0.6  3.49 0.16  3.43 0.08  27.9 0.2  11.67 0.13  15.2 0.1  0.61 0.01  0.81 0.06
FOGD         29.9 0.7  26.9 1.0  2.75 0.03  2.43 0.03  17.4 0.1  9.06 0.05   10.3 0.1  0.71 0.01  0.01 0.00
NOGD         30.4 0.8  29.1 0.4  2.98 0.01  2.92 0.03  17.4 0.2  9.55 0.01   13.8 2.1  0.59 0.01  0.01 0.00
"""
TABLE_7 = """
             dna       mnist     satimage  usps      letter    shuttle   acoustic  covtype   poker
Perceptron   20.4 0.7  15.4 0.1  29.6 0.5  10.0 0.2  71.5 0.5  15.2 0.3  - -       - -       - -
OGD          16.1 0.4  10.7 0.2  23.6 0.3  6.7 0.2   71.2 0.3  12.3 0.1  - -       - -       - -
RBP          31.1 1.4  43.4 0.5  49.3 0.8  24.0 0.4  91.7 0.2  29.3 0.5  57.4 0.2  60.1 0.1  56.6 0.0
Forgetron    30.9 2.1  43.9 0.6  48.2 1.4  22.7 0.5  96.1 0.1  34.1 0.4  61.2 0.4  60.4 0.4  56.5 0.0
Projectron   22.7 4.4  17.7 0.1  29.6 0.5  10.6 0.1  71.5 0.5  15.3 0.3  43.0 0.1  41.1 0.2  54.5 0.1
Projectron++ 23.1 6.1  17.7 0.3  25.9 0.4  9.9 0.2   71.4 0.3  16.8 0.5  40.3 0.1  38.3 0.2  53.2 0.1
BPA          25.3 1.2  32.4 1.2  27.9 0.3  15.4 0.6  84.6 0.5  14.1 0.2  46.2 0.3  45.2 0.2  54.7 0.4
BOGD         36.3 0.9  42.5 0.4  48.2 0.6  23.2 0.4  92.7 0.2  27.9 0.2  58.0 0.1  57.4 0.0  53.2 0.0
FOGD         20.8 0.7  11.8 0.2  29.5 0.4  10.1 0.2  71.5 0.6  15.6 0.5  43.0 0.2  40.4 0.1  52.6 0.1
NOGD         20.7 0.9  15.6 0.6  23.7 0.3  9.0 0.2   71.5 0.2  12.3 0.1  37.8 0.1  41.0 0.6  50.3 0.2
"""
TABLE_9 = """
             housing         mg              abalone         parkinsons      cpusmall        cadata          casp            slice           year
OGD          0.04017 0.00043 0.05341 0.00071 0.01137 0.00007 0.04835 0.00018 0.02508 0.00009 0.03976 0.00018 - -             - -             - -
Perceptron   0.04018 0.00080 0.05682 0.00084 0.01280 0.00010 0.05306 0.00045 0.02660 0.00015 0.04155 0.00019 - -             - -             - -
NORMA        0.04329 0.00065 0.06446 0.00073 0.01224 0.00006 0.05084 0.00018 0.03403 0.00014 0.05739 0.00008 - -             - -             - -
RBP          0.05837 0.00140 0.09652 0.00253 0.02498 0.00034 0.07540 0.00102 0.04895 0.00058 0.08115 0.00029 0.12425 0.00048 0.04799 0.00025 0.03151 0.00007
Forgetron    0.05848 0.00216 0.09742 0.00334 0.02483 0.00042 0.07488 0.00114 0.04905 0.00062 0.08128 0.00061 0.12455 0.00046 0.04843 0.00024 0.03148 0.00005
Projectron   0.04023 0.00080 0.05683 0.00084 0.01280 0.00010 0.05306 0.00046 0.02660 0.00015 0.04155 0.00020 0.08709 0.00021 0.01493 0.00142 0.01627 0.00013
BOGD         0.05270 0.00134 0.08936 0.00198 0.01558 0.00017 0.06159 0.00037 0.04972 0.00048 0.07259 0.00031 0.09683 0.00012 0.04730 0.00011 0.05430 0.00002
FOGD         0.04009 0.00071 0.05590 0.00073 0.01169 0.00005 0.04909 0.00020 0.02577 0.00050 0.04097 0.00015 0.08021 0.00031 0.00726 0.00019 0.01427 0.00004
NOGD         0.04063 0.00043 0.05356 0.00076 0.01138 0.00007 0.04896 0.00068 0.02559 0.00024 0.03983 0.00018 0.07844 0.00008 0.02636 0.00460 0.01519 0.00021
"""
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

ROOT = (
    "the authors' released code takes the wrong root in the shrinking step and gives the printed figure; "
    "this is the paper's rule"
)
DUPLICATES = (
    "ours is better: the authors' projection has no guard against examples that are stored already"
)
UNKNOWN_DECAY = "its step and decay on this set are not reported; a step of .3 is closer on cadata"
OTHER_COPY = "this copy of the set gives most rows one to three per cent more than the paper's"
NOTES = {
    ("Forgetron", "a9a"): ROOT,
    ("Forgetron", "ijcnn1"): ROOT,
    ("Forgetron", "mnist"): ROOT,
    ("Forgetron", "satimage"): ROOT,
    ("Projectron", "w7a"): DUPLICATES,
    ("Projectron++", "w7a"): DUPLICATES,
    ("Projectron", "dna"): DUPLICATES,
    ("Projectron++", "dna"): DUPLICATES,
    ("Projectron++", "shuttle"): "ours is better; the reason is not known",
    ("BOGD", "cpusmall"): UNKNOWN_DECAY,
    ("BOGD", "cadata"): UNKNOWN_DECAY,
    ("BOGD", "casp"): UNKNOWN_DECAY,
    ("RBP", "cpusmall"): OTHER_COPY,
    ("Forgetron", "cpusmall"): OTHER_COPY,
    ("NORMA", "cpusmall"): OTHER_COPY,
    ("FOGD", "shuttle"): "ours is better; the step of the paper is not known",
}
for _row in ("Perceptron", "OGD", "RBP", "Forgetron", "Projectron", "Projectron++", "BPA", "BOGD"):
    NOTES[_row, "usps"] = "the paper's scaling of usps is not known: no width tried gives all rows"
NOTES["FOGD", "usps"] = NOTES["NOGD", "usps"] = NOTES["BPA", "usps"]


def printed_table(text: str) -> dict[tuple[str, str], Printed]:
    header, *lines = text.strip("\n").splitlines()
    columns, table = header.split(), {}
    for line in lines:
        row, *figures = line.split()
        for column, mean, deviation in zip(columns, figures[::2], figures[1::2], strict=True):
            if mean != "-":
                table[row, column] = Printed(mean, deviation)
    return table
